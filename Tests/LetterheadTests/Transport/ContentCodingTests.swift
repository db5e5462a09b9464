// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import TestKit
    import Synchronization
    import Testing

    @testable import Letterhead

    /// Brotli and Zstandard, with the compressors of the system where it has them.
    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct ContentCodingTests {
        private static let text = Data((0..<20_000).flatMap { Array("line \($0 * 7919)\n".utf8) })

        private static func decoder(_ codings: String) throws -> ContentDecoder {
            try #require(try ContentDecoder(["Content-Encoding": codings], maximumRatio: 200))
        }

        private static func compressed(_ data: Data, _ coding: String) throws -> Data {
            try #require(SystemCodings.compressed(data, coding))
        }

        private static func decode(_ data: Data, _ coding: String, piecesOf size: Int) async throws -> Data {
            let pieces = stride(from: 0, to: data.count, by: size).map { Data(data[$0..<min($0 + size, data.count)]) }
            let rest = Mutex(pieces[...])
            let pull = try decoder(coding).pull { rest.withLock { $0.popFirst() } }
            var whole = Data()
            while let piece = try await pull() { whole += piece }
            return whole
        }

        @Test(arguments: SystemCodings.compressible, [HTTPResponse.Delivery.buffered, .streamed])
        func `a response in brotli or Zstandard is decompressed`(coding: String, delivery: HTTPResponse.Delivery)
            async throws
        {
            let body = try Self.compressed(Self.text, coding)
            let server = RawServer { connection, _ in
                while let request = connection.readRequest() {
                    guard request.head.contains(coding) else { return }
                    connection.write(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n")
                    connection.write(Array(body))
                }
            }
            let request = HTTPRequest(url: server.url()).with { $0.responseDelivery = delivery }
            let response = try await Carrier.loader().load(request)
            #expect(try await response.body.data() == Self.text)
            #expect(!response.headers.contains(.contentEncoding) && !response.headers.contains(.contentLength))
        }

        @Test(arguments: SystemCodings.compressible, [1, 2, 3, 1000, 1 << 20])
        func `a body is the same for any division into pieces`(coding: String, size: Int) async throws {
            let body = try Self.compressed(Self.text, coding)
            #expect(try await Self.decode(body, coding, piecesOf: size) == Self.text)
        }

        @Test(arguments: SystemCodings.compressible)
        func `an empty body and a compressed empty body are empty`(coding: String) throws {
            #expect(try Self.decoder(coding).decode(Data(), upTo: 10).isEmpty)
            #expect(try Self.decoder(coding).decode(Self.compressed(Data(), coding), upTo: 10).isEmpty)
        }

        @Test(arguments: SystemCodings.compressible)
        func `a body that is truncated at any byte is an error`(coding: String) throws {
            let body = try Self.compressed(Self.text, coding)
            for count in [1, 2, 3, 4, 5, 10] + Array(stride(from: 11, to: body.count, by: 997)) + [body.count - 1] {
                let error = #expect(throws: TransportFailure.self) {
                    try Self.decoder(coding).decode(body.prefix(count), upTo: .max)
                }
                #expect(error?.code == .cannotDecodeResponse, "\(count) of \(body.count) bytes")
            }
        }

        @Test(arguments: SystemCodings.compressible)
        func `bytes that are not compressed, or that follow the body, are an error`(coding: String) throws {
            let body = try Self.compressed(Self.text, coding)
            for bytes in [Data("this is plain text".utf8), body + Data("more".utf8)] {
                let error = #expect(throws: TransportFailure.self) {
                    try Self.decoder(coding).decode(bytes, upTo: .max)
                }
                #expect(error?.code == .cannotDecodeResponse)
            }
        }

        @Test(arguments: SystemCodings.compressible)
        func `any changed byte is an error or another body, and never a crash`(coding: String) throws {
            let body = try Self.compressed(Self.text.prefix(3000), coding)
            for index in body.indices {
                for bit in [UInt8(1), 16, 0xFF] {
                    var changed = body
                    changed[index] ^= bit
                    _ = try? Self.decoder(coding).decode(changed, upTo: 1 << 20)
                }
            }
        }

        @Test(arguments: SystemCodings.compressible)
        func `limits apply to the decompressed bytes`(coding: String) throws {
            let body = try Self.compressed(Data(count: 64 << 20), coding)
            let ratio = #expect(throws: TransportFailure.self) { try Self.decoder(coding).decode(body, upTo: .max) }
            #expect(ratio?.code == .responseTooLarge && ratio?.message.contains("ratio") == true)
            let limit = #expect(throws: TransportFailure.self) { try Self.decoder(coding).decode(body, upTo: 1000) }
            #expect(limit?.code == .responseTooLarge && limit?.message.contains("responseLimit") == true)
        }

        @Test(arguments: SystemCodings.compressible)
        func `codings are removed in reverse order`(coding: String) throws {
            let inner = try Self.compressed(Self.text, coding)
            #expect(try Self.decoder("\(coding), gzip").decode(inner.deflated(window: 31), upTo: .max) == Self.text)
        }

        @Test(.enabled(if: SystemCodings.compressible.contains("zstd")))
        func `a Zstandard body may have several frames and skippable frames`() async throws {
            let skipped = Data([0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3])
            let body =
                try skipped + Self.compressed(Data("a".utf8), "zstd") + skipped
                + Self.compressed(Data("b".utf8), "zstd")
            for size in [1, 2, 100] { #expect(try await Self.decode(body, "zstd", piecesOf: size) == Data("ab".utf8)) }
        }

        @Test(.enabled(if: SystemCodings.compressible.contains("zstd")))
        func `a Zstandard frame with a window of more than 8 MiB is refused`() throws {
            // The magic number, a frame header with a window of 16 MiB, and a last raw block of one byte (RFC 8878,
            // 3.1.1).
            let frame = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x70, 0x09, 0x00, 0x00, 0x61])
            let error = #expect(throws: TransportFailure.self) { try Self.decoder("zstd").decode(frame, upTo: .max) }
            #expect(error?.message.contains("8 MiB") == true, "\(String(describing: error))")
        }

        @Test func `the last bytes of a raw deflate body are kept when a piece is full before them`() async throws {
            for count in stride(from: (64 << 10) - 300, to: (64 << 10) + 300, by: 1) {
                let body = try Data(count: count).deflated(window: -15)
                #expect(try Self.decoder("deflate").decode(body, upTo: .max).count == count)
                #expect(try await Self.decode(body, "deflate", piecesOf: 1).count == count)
            }
        }
    }
#endif
