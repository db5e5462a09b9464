// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

extension UploadProtocol {
    /// Resumable uploads as defined by the IETF (draft-ietf-httpbis-resumable-upload-12) in interop version 8.
    public static let draft = UploadProtocol(
        name: "draft", headers: ["Upload-Draft-Interop-Version": "8"], contentType: "application/partial-upload",
        isEndedByRequest: true,
        isAnnounced: { $0.isOfInteropVersion && ($0.contains("Upload-Limit") || $0.acceptsPartialUpload) },
        confirmation: "Upload-Complete: ?0",
        // Since draft 10, a response to the creation doesn't need the field.
        isConfirmed: { $0.isOfInteropVersion ? $0.isUploadComplete.map { !$0 } : false },
        create: { headers, content, _ in
            headers.replace(with: content.headers)
            headers["Upload-Complete"] = "?0"
            headers["Upload-Length"] = "\(content.length)"
            headers["Repr-Digest"] = content.digest.map { "sha-256=:\($0):" }
        },
        append: { headers, range, isLast, digest in
            headers["Upload-Complete"] = isLast ? "?1" : "?0"
            headers["Upload-Offset"] = "\(range.lowerBound)"
            headers["Content-Digest"] = digest.map { "sha-256=:\($0):" }
        })

    fileprivate static let limits = ["min-size", "max-size", "min-append-size", "max-append-size", "max-age"]
}

extension HTTPHeaders {
    /// Whether the server implements the same draft version. If it names no version, it counts as compatible.
    fileprivate var isOfInteropVersion: Bool {
        values(for: "Upload-Draft-Interop-Version").allSatisfy { ASCII.trimmed($0).isSame(as: "8") }
    }

    /// Whether the server announces the protocol in `Accept-Patch`, the form that servers use since draft 10.
    fileprivate var acceptsPartialUpload: Bool {
        ASCII.members(of: values(for: "Accept-Patch")).contains {
            MediaType($0)?.essence == UploadProtocol.draft.contentType.essence
        }
    }

    fileprivate var isUploadComplete: Bool? {
        let text = self["Upload-Complete"].map(ASCII.trimmed) ?? ""
        return text.isSame(as: "?1") ? true : text.isSame(as: "?0") ? false : nil
    }
}

extension HTTPResponse {
    /// Whether the response is the result of the complete upload. Nil if the response doesn't tell, as always in tus.
    var isUploadComplete: Bool? { headers.isUploadComplete }

    /// The integers in the dictionary `Upload-Limit` (RFC 9651, 4.2.2), and the maximum from a tus server as
    /// `max-size`. If a limit isn't an integer, `Upload-Limit` is ignored.
    var uploadLimits: [String: Int] {
        let size = ["max-size": headers.count(of: "Tus-Max-Size")].compactMapValues(\.self)
        var fields = size
        for member in ASCII.members(of: headers.values(for: "Upload-Limit")) {
            let (key, value) = member.split(at: ";", omittingEmpty: false)[0].cut(at: "=") ?? (member[...], "")
            guard let name = UploadProtocol.limits.first(where: { key.isSame(as: $0) }) else { continue }
            guard let number = ContentRange.number(value) else { return size }
            fields[name] = number
        }
        return fields
    }
}
