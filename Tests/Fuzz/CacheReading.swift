// SPDX-License-Identifier: MIT
#if DEBUG
    import Foundation
    @testable import Letterhead
    @testable import LetterheadCaching

    /// The parsers of a cache.
    enum CacheReading {
        /// Parses a string as each of the header fields that a cache parses.
        static func read(_ text: String) {
            var request = HTTPRequest()
            for name in ["Range", "Accept-Language", "Cache-Control", "Pragma"] {
                request.headers.append(.init(name), text)
            }
            var headers = HTTPHeaders()
            for name in ["Cache-Control", "Expires", "Date", "Age", "Vary", "Last-Modified", "ETag", "Connection"] {
                headers.append(HTTPHeaders.Name(name), text)
            }
            let response = HTTPResponse(request: request, status: .ok, headers: headers)
            let head = CachedHead(response, to: request, requestTime: 0, responseTime: 0)
            _ = CacheFreshness(head, now: 10)
            _ = CacheRules.use(of: head, for: CacheDemand(request), now: 10)
            try? CacheRules.checkStorable(head, to: request)
            _ = CachedRange.range(text, count: 100)
            _ = head.updated(by: response, requestTime: 0, responseTime: 0)
        }

        /// Parses bytes as the file of a head, with and without a valid checksum, and as the name of such a file.
        static func readFile(_ bytes: [UInt8]) {
            _ = FileCacheHead(bytes)
            let checksum = CacheChecksum.of(bytes)
            let signed = bytes + (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
            if let file = FileCacheHead(signed) {
                _ = file.data
                _ = CacheFreshness(file.head, now: 10)
            }
            _ = bytes.withUnsafeBufferPointer { FileCacheName($0) }
        }

        /// The file of a head without its checksum, decoded as UTF-8, and the name of such a file.
        static var samples: [String] {
            let request = HTTPRequest()
            let response = HTTPResponse(request: request, status: .ok, headers: ["ETag": "a", "Vary": "A"])
            let file = FileCacheHead(
                url: "https://a.example/", head: CachedHead(response, to: request, requestTime: 1, responseTime: 2),
                bodyCount: 3, bodyChecksum: 4)
            let hash = "0123456789abcdef"
            let name = Array(repeating: hash, count: 6).joined(separator: "-") + "-3.head"
            return [String(decoding: file.data.dropLast(8), as: UTF8.self), name]
        }
    }
#endif
