// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

extension UploadProtocol {
    static func isMetadataKey(_ key: String) -> Bool {
        !key.isEmpty && ASCII.allBytes(of: key) { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }

    /// tus 1.0.0, with its extensions creation, expiration, checksum and termination.
    public static let tus = UploadProtocol(
        name: "tus", headers: ["Tus-Resumable": "1.0.0"], contentType: "application/offset+octet-stream",
        isEndedByRequest: false,
        // Some servers don't list their versions, so the version in the response counts as well.
        isAnnounced: { headers in
            let versions = headers.values(for: "Tus-Version") + headers.values(for: "Tus-Resumable")
            return ASCII.members(of: versions).contains { $0.isSame(as: "1.0.0") }
        },
        confirmation: "Tus-Resumable: 1.0.0",
        isConfirmed: { ASCII.trimmed($0["Tus-Resumable"] ?? "").isSame(as: "1.0.0") },
        create: { headers, content, metadata in
            let known = [("filename", content.name), ("filetype", content.headers[.contentType] ?? "")]
            let own = known.filter { !$1.isEmpty && metadata[$0] == nil } + metadata.sorted { $0.key < $1.key }
            headers["Upload-Length"] = "\(content.length)"
            // A metadata key without a value is sent alone.
            let pairs = own.map { $1.isEmpty ? $0 : "\($0) \(Data($1.utf8).base64EncodedString())" }
            headers["Upload-Metadata"] = pairs.isEmpty ? nil : pairs.joined(separator: ",")
        },
        append: { headers, range, _, digest in
            headers["Upload-Offset"] = "\(range.lowerBound)"
            headers["Upload-Checksum"] = digest.map { "sha256 \($0)" }
        })
}
