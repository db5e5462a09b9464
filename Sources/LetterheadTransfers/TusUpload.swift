// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

extension UploadProtocol {
    /// tus 1.0.0, with its extensions creation, expiration, checksum and termination.
    public static let tus = UploadProtocol(
        name: "tus", headers: ["Tus-Resumable": "1.0.0"], contentType: "application/offset+octet-stream",
        isEndedByRequest: false,
        isAnnounced: { ASCII.members(of: $0.values(for: "Tus-Version")).contains { $0.isSame(as: "1.0.0") } },
        create: { headers, content in
            let metadata = [("filename", content.name), ("filetype", content.headers[.contentType] ?? "")]
            headers["Upload-Length"] = "\(content.length)"
            let pairs = metadata.filter { !$1.isEmpty }.map { "\($0) \(Data($1.utf8).base64EncodedString())" }
            headers["Upload-Metadata"] = pairs.isEmpty ? nil : pairs.joined(separator: ",")
        },
        append: { headers, range, _, digest in
            headers["Upload-Offset"] = "\(range.lowerBound)"
            headers["Upload-Checksum"] = digest.map { "sha256 \($0)" }
        })
}
