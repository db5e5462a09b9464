// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Letterhead

    extension ClientSession {
        /// The bytes of a response as they arrive, one by one or as ``lines``. Iterate over them once.
        ///
        /// The client requests the next piece from the connection only when you have read the bytes before it. If the
        /// task that reads is cancelled, the next read throws `URLError.cancelled`.
        public struct AsyncBytes: AsyncSequence, Sendable {
            let body: HTTPResponseBody
            let url: URL?

            public func makeAsyncIterator() -> AsyncIterator {
                AsyncIterator(pieces: body.makeAsyncIterator(), url: url)
            }

            /// The lines as they arrive, without their line endings.
            ///
            /// As with `URLSession`, empty lines are left out, and a line ends with LF, CR, CRLF, or one of U+000B,
            /// U+000C, U+0085, U+2028 and U+2029. If a line is longer than 64 MiB, the read throws
            /// `URLError.dataLengthExceedsMaximum`.
            public var lines: AsyncLineSequence { AsyncLineSequence(lines: body.lines(upTo: 64 << 20), url: url) }

            /// Reads the bytes one by one.
            public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
                /// The current piece, and the index of its next byte. Most bytes are read from it without a function
                /// call.
                @usableFromInline var piece: [UInt8] = []
                @usableFromInline var place = 0
                private var pieces: HTTPResponseBody.Iterator
                private let url: URL?

                init(pieces: HTTPResponseBody.Iterator, url: URL?) { (self.pieces, self.url) = (pieces, url) }

                /// Returns the next byte, or nil at the end.
                ///
                /// - Throws: `URLError`.
                @inlinable
                public mutating func next() async throws -> UInt8? {
                    if place == piece.count {
                        try await advance()
                        if piece.isEmpty { return nil }
                    }
                    defer { place += 1 }
                    return piece[place]
                }

                /// Calls ``next()``, for a `for` loop.
                @inlinable
                public mutating func next(isolation actor: (any Actor)?) async throws -> UInt8? { try await next() }

                @usableFromInline
                mutating func advance() async throws {
                    place = 0
                    do { piece = try await pieces.next().map { [UInt8]($0) } ?? [] } catch {
                        piece = []
                        throw URLError(anyError: error, url: url)
                    }
                }
            }
        }

        /// The lines of a response. See ``AsyncBytes/lines``.
        public struct AsyncLineSequence: AsyncSequence, Sendable {
            let lines: HTTPResponseBody.Lines
            let url: URL?

            public func makeAsyncIterator() -> AsyncIterator {
                AsyncIterator(lines: lines.makeAsyncIterator(), url: url)
            }

            /// Reads the lines one by one.
            public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
                private var lines: HTTPResponseBody.Lines.Iterator
                private let url: URL?
                /// The parts of a line that contains other separators, in reverse order.
                private var parts: [String] = []

                init(lines: HTTPResponseBody.Lines.Iterator, url: URL?) { (self.lines, self.url) = (lines, url) }

                /// Returns the next line that isn't empty, or nil at the end.
                ///
                /// - Throws: `URLError`.
                public mutating func next() async throws -> String? {
                    while true {
                        if let part = parts.popLast() { return part }
                        do {
                            guard let line = try await lines.next() else { return nil }
                            guard line.utf8.contains(where: Self.mayEndLine) else {
                                if line.isEmpty { continue }
                                return line
                            }
                            parts = line.unicodeScalars.split(whereSeparator: Self.endsLine).reversed().map(String.init)
                        } catch {
                            throw URLError(anyError: error, url: url)
                        }
                    }
                }

                /// Calls ``next()``, for a `for` loop.
                public mutating func next(isolation actor: (any Actor)?) async throws -> String? { try await next() }

                /// Returns whether a byte is a separator other than LF, or the first byte of one.
                private static func mayEndLine(_ byte: UInt8) -> Bool {
                    (0x0B...0x0D).contains(byte) || byte == 0xC2 || byte == 0xE2
                }

                private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
                    (0x0B...0x0D).contains(scalar.value) || [0x85, 0x2028, 0x2029].contains(scalar.value)
                }
            }
        }
    }
#endif
