// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation

    /// What a server of tus 1.0.0 or of the IETF's protocol has of the uploads in a case.
    struct Uploads: Sendable {
        struct Upload: Sendable {
            let length: Int
            var bytes = Data()
            var isComplete: Bool { bytes.count == length }
            /// Whether the last request has told that it is the last.
            var isEnded = false
        }

        let isDraft: Bool
        private var uploads: [Int: Upload] = [:]

        init(isDraft: Bool) { self.isDraft = isDraft }

        /// How many were created.
        private(set) var count = 0
        /// How many chunks had another offset than the server's.
        private(set) var wrongOffsets = 0
        var complete: [Data] { uploads.values.filter(\.isComplete).map(\.bytes) }

        private static func number(_ seen: Seen) -> Int {
            Int(seen.target.components(separatedBy: "id=").last?.prefix { $0.isNumber } ?? "") ?? 0
        }

        /// Returns the status and the fields of the response to a request.
        ///
        /// - Parameter share: the part of a chunk's bytes that arrives. Default: 1.
        mutating func respond(to seen: Seen, at place: String, share: Double = 1) -> (status: Int, fields: [String]) {
            let number = Self.number(seen)
            let version = isDraft ? "Upload-Complete: ?0" : "Tus-Resumable: 1.0.0"
            switch seen.method {
            case "OPTIONS" where isDraft: return (204, ["Upload-Limit: min-size=0"])
            case "OPTIONS": return (204, ["Tus-Version: 1.0.0", "Tus-Extension: creation,termination"])
            case _ where seen.path != "upload":
                guard let length = seen["upload-length"].flatMap({ Int($0) }) else { return (400, [version]) }
                count += 1
                uploads[count] = Upload(length: length)
                return (201, [version, "Location: \(place)/upload?id=\(count)"])
            case "DELETE": return (uploads.removeValue(forKey: number) == nil ? 404 : 204, [version])
            case "HEAD", "PATCH":
                guard var upload = uploads[number] else { return (404, [version]) }
                if seen.method == "PATCH" {
                    guard seen["upload-offset"] == "\(upload.bytes.count)" else {
                        wrongOffsets += 1
                        return (409, [version])
                    }
                    let body = seen.body ?? Data()
                    upload.bytes += body.prefix(Int(Double(body.count) * share))
                    upload.isEnded = isDraft && upload.isComplete && seen["upload-complete"] == "?1"
                    uploads[number] = upload
                }
                let state = upload.isEnded ? "Upload-Complete: ?1" : version
                let fields = ["Upload-Offset: \(upload.bytes.count)", "Upload-Length: \(upload.length)"]
                return (
                    seen.method == "HEAD" || upload.isEnded ? 200 : 204, fields + [state, "Cache-Control: no-store"]
                )
            default: return (200, [])
            }
        }
    }
#endif
