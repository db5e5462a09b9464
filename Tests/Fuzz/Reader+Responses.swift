// SPDX-License-Identifier: MIT
#if DEBUG
    @testable import Letterhead

    extension Reader {
        static let responses = Reader(
            name: "HTTP/1.1 response",
            samples: [
                "HTTP/1.1 103 x\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n c\r\n\r\nhello",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b\"\r\nhello\r\n1  \r\n!\r\n00\r\nX: 1\r\n\r\n",
                "HTTP/1.0 404 \nConnection: keep-alive, close\n\nuntil the end",
                "HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 \r\nConnection: close\r\n\r\nuntil the end",
            ],
            hostile: [
                "HTTP/1.1 100 \r\n\r\n", "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n",
                "\r\n",
                "HTTP/1.1 204 \r\n\r\n", "\n", "\r", "1;", "0", "A: b\r\n", "A: b\r\n c\r\n", " ", "Content-Length: 1",
                "H", ";",
            ]
        ) { bytes in
            // A byte at a time takes too long for large inputs.
            let size = bytes.count < 4_000 ? 1 : 16
            for (start, isHead, limit) in variants {
                let bytes = Array(start.utf8) + bytes
                let whole = responses(in: bytes, piecesOf: .max, isHead: isHead, limit: limit)
                for size in [size, 2 * size + bytes.count % 7] {
                    let parts = responses(in: bytes, piecesOf: size, isHead: isHead, limit: limit)
                    guard whole == parts else {
                        fatalError("responses depend on where \(bytes) is cut: \(whole), \(parts)")
                    }
                }
                // What a response consists of doesn't depend on what follows it, and not on what precedes it.
                guard let first = whole.first, first.count < bytes.count else { continue }
                let alone = responses(in: Array(bytes[..<first.count]), piecesOf: .max, isHead: isHead, limit: limit)
                guard !first.isComplete || alone == [first] else {
                    fatalError("a response depends on what follows \(bytes.prefix(first.count)): \(first), \(alone)")
                }
                guard first.isComplete, first.mayReuse else { continue }
                let rest = responses(in: Array(bytes[first.count...]), piecesOf: .max, isHead: isHead, limit: limit)
                guard rest == Array(whole.dropFirst()) else {
                    fatalError("responses depend on an earlier one in \(bytes): \(whole), \(rest)")
                }
            }
        }

        /// What precedes the input, so that it is a head, fields, chunks, the extensions of one, or a body, whether the
        /// request was `HEAD`, and the limit of the head.
        private static let variants = [
            ("", false, 1 << 20), ("", true, 1 << 20), ("", false, 40), ("HTTP/1.1 200 OK\r\nA: 1\r\n", false, 1 << 20),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, 1 << 20),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a", false, 1 << 20),
            ("HTTP/1.1 200 OK\r\n\r\n", false, 1 << 20),
        ]

        /// A response that was read, and how many bytes belong to it.
        private struct ReadResponse: Equatable {
            var heads: [[UInt8]] = []
            var (body, trailers): ([UInt8], [UInt8]) = ([], [])
            var failure: String?
            var count = 0
            /// Whether its end was found before the connection ended.
            var isComplete = false
            var mayReuse = false
        }

        /// Reads the responses of a connection, which ends after the bytes. Each piece of a body is refused once.
        private static func responses(
            in bytes: [UInt8], piecesOf size: Int, isHead: Bool, limit: Int
        ) -> [ReadResponse] {
            var (reader, lines) = (ResponseReader(limit: limit, isSecure: true), [UInt8]())
            var (found, current): ([ReadResponse], ReadResponse) = ([], ReadResponse())
            reader.begin(isHead: isHead)
            do throws(TransportFailure) {
                for start in stride(from: 0, to: bytes.count, by: min(size, max(bytes.count, 1))) {
                    // In memory of its own, outside of which a sanitizer notices each access.
                    let piece = Array(bytes[start..<min(bytes.count - start, size) + start])
                    try piece.withUnsafeBufferPointer { piece throws(TransportFailure) in
                        var (rest, isRefused) = (UnsafeRawBufferPointer(piece), false)
                        while true {
                            let before = rest.count
                            let step = try reader.next(&rest, lines: &lines)
                            current.count += before - rest.count
                            switch step {
                            case .needsMore:
                                guard rest.isEmpty else { fatalError("bytes are left although more are needed") }
                                return
                            case .interim, .head:
                                check(lines, reader)
                                current.heads.append(lines)
                                lines = []
                            case .body(let bytes):
                                guard !bytes.isEmpty else { fatalError("a piece of a body is empty") }
                                isRefused.toggle()
                                if isRefused {
                                    reader.unread(bytes.count)
                                    current.count -= bytes.count
                                    rest = .init(start: bytes.baseAddress, count: bytes.count + rest.count)
                                } else {
                                    current.body += bytes
                                }
                            case .end:
                                (current.isComplete, current.mayReuse) = (true, reader.mayReuse)
                                current.trailers = lines
                                lines = []
                                found.append(current)
                                current = ReadResponse()
                                guard reader.mayReuse else { return }
                                reader.begin(isHead: isHead)
                            }
                        }
                    }
                    if let last = found.last, !last.mayReuse { return found }
                }
                guard reader.hasBegun || found.isEmpty else { return found }
                try reader.finish()
                (current.trailers, current.mayReuse) = (lines, reader.mayReuse)
            } catch {
                current.failure = error.message
                // How much of a line was read before its error was found depends on where it is cut.
                current.count = 0
            }
            return found + [current]
        }

        /// The caller parses the lines that the reader has accepted, and finds the same body.
        private static func check(_ lines: [UInt8], _ reader: ResponseReader) {
            guard let head = try? ResponseHead(lines), head.status.code == reader.rules.status,
                head.status.hasNoBody || head.bodyLength(of: .get) == reader.rules.framing.bodyLength
            else { fatalError("the head \(lines) is accepted, and parsed differently") }
        }
    }
#endif
