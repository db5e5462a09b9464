// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    import TestKit

    /// A server that responds to each request with the bytes that the request's path asks for: `/ID/SEED`, or with the
    /// id, for `/probe/ID`.
    enum FuzzServer {
        static func make(tls: RawTLS?) -> RawServer {
            RawServer(tls: tls) { connection, _ in
                while let head = connection.readHead(), respond(to: head, connection) {}
                connection.close()
            }
        }

        /// Responds to one request. Returns false when the connection ends.
        private static func respond(to head: String, _ connection: RawConnection) -> Bool {
            let words = head.split(separator: " ", maxSplits: 2)
            let parts = words.count > 1 ? words[1].split(separator: "/") : []
            if parts.count == 2, parts[0] == "probe" {
                return connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(parts[1].utf8.count)\r\n\r\n\(parts[1])")
            }
            guard parts.count == 2, let id = Int(parts[0]), let seed = UInt64(parts[1]) else { return false }
            let response = FuzzedResponse(id: id, seed: seed, isHead: words[0] == "HEAD")
            if !response.isEarly, !connection.skipBody(of: head) { return false }
            guard write(response, connection) else { return false }
            switch response.end {
            case .keepOpen: return !response.isEarly || connection.skipBody(of: head)
            case .close: return false
            case .halfClose:
                connection.endOutput()
                return false
            case .reset:
                connection.reset()
                return false
            }
        }

        private static func write(_ response: FuzzedResponse, _ connection: RawConnection) -> Bool {
            var rest = response.bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(response.pieceSize)
                guard connection.write(Array(piece)) else { return false }
                rest = rest.dropFirst(piece.count)
                // At most a few pauses, so that one response does not take long.
                if !rest.isEmpty, response.bytes.count / response.pieceSize < 50 { usleep(20) }
            }
            return true
        }
    }
#endif
