// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLetterheadZlib
    import Foundation
    @testable import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    @Suite(.timeLimit(.minutes(3)))
    struct ContentDecoderTests {
        let loader = CurlLoader()
        let text = Data((0..<5_000).flatMap { Array("line \($0 * 7919)\n".utf8) })

        private func server(_ coding: String, _ body: Data) -> RawServer {
            server(head: "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)", body)
        }

        private func request(_ server: RawServer, _ delivery: HTTPResponse.Delivery) -> HTTPRequest {
            let request = HTTPRequest(url: server.url()).with { $0.responseDelivery = delivery }
            return request
        }

        @Test(
            arguments: [
                ("gzip", [31]), ("x-gzip", [31]), ("GZIP", [31]), ("deflate", [15]), ("deflate", [-15]),
                ("gzip, deflate", [31, 15]), ("deflate,gzip , identity", [15, 31]),
            ], [HTTPResponse.Delivery.buffered, .streamed])
        func `a body is decompressed, and its coding headers are removed`(
            coding: (name: String, windows: [CInt]), delivery: HTTPResponse.Delivery
        ) async throws {
            let coded = try coding.windows.reduce(text) { try $0.deflated(window: $1) }
            let response = try await loader.load(request(server(coding.name, coded), delivery))
            #expect(try await response.body.data() == text)
            #expect(!response.headers.contains(.contentEncoding) && !response.headers.contains(.contentLength))
            #expect(response.metrics.bytesReceived < text.count)
        }

        @Test func `Accept-Encoding is added unless the request sets it or requests a range`() async throws {
            let heads = Heads()
            let server = RawServer.recording(heads)
            var request = HTTPRequest(url: server.url())
            _ = try await loader.load(request)
            request.headers["Range"] = "bytes=0-1"
            _ = try await loader.load(request)
            request.headers = ["Accept-Encoding": "identity"]
            _ = try await loader.load(request)
            let offers = heads.all.map { head in
                head.split(separator: "\r\n").filter { $0.hasPrefix("Accept-Encoding") }.map(String.init)
            }
            #expect(offers == [["Accept-Encoding: \(SystemCodings.offered)"], [], ["Accept-Encoding: identity"]])
        }

        @Test func `a body with an unknown coding is not changed`() async throws {
            let response = try await loader.load(request(server("compress, gzip", Data([1, 2, 3])), .buffered))
            #expect(try await response.body.data() == Data([1, 2, 3]))
            #expect(response.headers[.contentEncoding] == "compress, gzip")
        }

        private func server(head: String, _ body: Data) -> RawServer {
            RawServer { connection, _ in
                while connection.readRequest() != nil {
                    connection.write("\(head)\r\nContent-Length: \(body.count)\r\n\r\n")
                    connection.write(Array(body))
                }
            }
        }

        @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
        func `a range of a compressed representation is not decompressed, so that ranges can be joined`(
            delivery: HTTPResponse.Delivery
        ) async throws {
            let coded = try text.deflated(window: 31)
            var joined = Data()
            for range in [0..<100, 100..<coded.count] {
                let server = server(
                    head: "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\n"
                        + "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(coded.count)",
                    coded.subdata(in: range))
                let response = try await loader.load(request(server, delivery))
                joined += try await response.body.data()
                #expect(response.headers[.contentEncoding] == "gzip")
                #expect(response.headers[.contentLength] == "\(range.count)")
            }
            #expect(joined == coded)
        }

        @Test func `several ranges of a compressed representation are not decompressed`() async throws {
            let head =
                "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\n"
                + "Content-Type: multipart/byteranges; boundary=b"
            let body = Data("--b\r\nContent-Range: bytes 0-0/9\r\n\r\nx\r\n--b--".utf8)
            let response = try await loader.load(request(server(head: head, body), .buffered))
            #expect(try await response.body.data() == body && response.headers.contains(.contentEncoding))
        }

        @Test func `the compressed body of a 416 is decompressed`() async throws {
            let head =
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Encoding: gzip\r\nContent-Range: bytes */9"
            let response = try await loader.load(request(server(head: head, try text.deflated(window: 31)), .buffered))
            #expect(try await response.body.data() == text && !response.headers.contains(.contentEncoding))
        }

        @Test func `several gzip members and an empty body are complete`() async throws {
            let members = try Data("a".utf8).deflated(window: 31) + Data("b".utf8).deflated(window: 31)
            #expect(try await loader.load(request(server("gzip", members), .buffered)).body.data() == Data("ab".utf8))
            #expect(try await loader.load(request(server("gzip", Data()), .streamed)).body.data().isEmpty)
        }

        @Test(
            arguments: ["cut in half", "cut by a byte", "flipped", "garbage", "surplus"],
            [HTTPResponse.Delivery.buffered, .streamed])
        func `a truncated or corrupt compressed body is an error`(fault: String, delivery: HTTPResponse.Delivery)
            async throws
        {
            var coded = try text.deflated(window: 31)
            switch fault {
            case "cut in half": coded = coded.prefix(coded.count / 2)
            case "cut by a byte": coded = coded.dropLast()
            case "flipped": coded[coded.count / 2] ^= 0xFF
            case "garbage": coded = Data("this is no gzip".utf8)
            default: coded += Data("more".utf8)
            }
            let request = request(server("gzip", coded), delivery)
            #expect(await failure { try await loader.load(request).body.data() }?.code == .cannotDecodeResponse)
        }

        @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
        func `a body over the decoding ratio is too large before it is fully decompressed`(
            delivery: HTTPResponse.Delivery
        ) async throws {
            let bomb = try Data(count: 64 << 20).deflated(window: 31)
            let request = request(server("gzip", bomb), delivery)
            let error = await #expect(throws: HTTPError.self) {
                var count = 0
                for try await chunk in try await loader.load(request).body { count += chunk.count }
                #expect(count < 18 << 20)
            }
            #expect(error?.code == .responseTooLarge)
        }

        @Test(arguments: [(2_000, true), (200, false), (1, false)])
        func `the decoding ratio is a setting`(ratio: Int, isAllowed: Bool) async throws {
            let loader = CurlLoader(TransportConfiguration().with { $0.maximumDecodingRatio = ratio })
            let zeros = request(server("gzip", try Data(count: 20 << 20).deflated(window: 31)), .buffered)
            if isAllowed {
                #expect(try await loader.load(zeros).body.data() == Data(count: 20 << 20))
            } else {
                #expect(await failure { try await loader.load(zeros) }?.code == .responseTooLarge)
            }
            // A small body is not judged by its ratio.
            let small = request(server("gzip", try Data(count: 1 << 20).deflated(window: 31)), .buffered)
            #expect(try await loader.load(small).body.data().count == 1 << 20)
        }

        @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
        func `nested codings together have the ratio of a single one`(delivery: HTTPResponse.Delivery) async throws {
            // Each member grows less than the ratio, and so do the members in the outer coding. Both together do not.
            var noise = SeededGenerator(seed: 1)
            let start = Data((0..<1_200).map { _ in UInt8.random(in: 0 ... .max, using: &noise) })
            let member = try (start + Data(count: 128 << 10)).deflated(window: 31)
            #expect(128 << 10 < member.count * 200)
            let inner = Data(repeatElement(member, count: 400).joined())
            let outer = try inner.deflated(window: 31)
            #expect(inner.count < outer.count * 300 && outer.count < 20_000)
            let request = request(server("gzip, gzip", outer), delivery)
            let error = await failure { for try await _ in try await loader.load(request).body {} }
            #expect(error?.code == .responseTooLarge && error?.message.contains("maximumDecodingRatio") == true)
        }

        @Test func `a redirect whose decompressed body is over the limit is followed`() async throws {
            let zeros = try Data(count: 20_000).deflated(window: 31)
            let server = try await MockServer.start { request in
                guard request.path == "/first" else { return .text("end") }
                return MockServer.Response(
                    status: 302, headers: ["Location": "/second", "Content-Encoding": "gzip"], body: zeros)
            }
            let request = HTTPRequest(url: server.url.appending(path: "first")).with { $0.responseLimit = 1000 }
            let response = try await (FollowRedirects() --> CurlLoader()).load(request)
            #expect(try await response.body.data() == Data("end".utf8))
            await server.stop()
        }

        @Test(arguments: [0, 1])
        func `the response limit applies to decompressed bytes`(less: Int) async throws {
            var request = request(server("gzip", try text.deflated(window: 31)), .buffered)
            request.responseLimit = text.count - less
            if less == 0 {
                #expect(try await loader.load(request).body.data() == text)
            } else {
                #expect(await failure { try await loader.load(request) }?.code == .responseTooLarge)
            }
        }

        @Test func `more than five codings are refused`() async throws {
            let request = request(server("gzip, gzip, gzip, gzip, gzip, gzip", Data([1])), .buffered)
            #expect(await failure { try await loader.load(request) }?.code == .invalidResponse)
        }

        @Test func `a transport without decoding delivers the body compressed`() async throws {
            let configuration = TransportConfiguration().with { $0.decodesContent = false }
            let coded = try text.deflated(window: 31)
            let response = try await CurlLoader(configuration).load(request(server("gzip", coded), .buffered))
            #expect(try await response.body.data() == coded)
            #expect(response.headers[.contentEncoding] == "gzip")
        }
    }

    extension Data {
        /// The bytes in a coding of zlib's: window 31 is gzip, 15 deflate with its head, -15 without.
        func deflated(window: CInt) throws -> Data {
            struct Failed: Error {}
            var stream = CZlibStream()
            let size = CInt(MemoryLayout<CZlibStream>.size)
            guard czlib_deflate_begin(&stream, 6, CInt(CZLIB_DEFLATED), window, 8, 0, czlib_version(), size) == 0 else {
                throw Failed()
            }
            defer { czlib_deflate_end(&stream) }
            var output = Data(count: count + count / 8 + 64)
            let isDone = withUnsafeBytes { input in
                output.withUnsafeMutableBytes { output in
                    stream.next_in = input.bindMemory(to: UInt8.self).baseAddress
                    stream.avail_in = UInt32(input.count)
                    stream.next_out = output.bindMemory(to: UInt8.self).baseAddress
                    stream.avail_out = UInt32(output.count)
                    return czlib_deflate(&stream, CInt(CZLIB_FINISH)) == CInt(CZLIB_STREAM_END)
                }
            }
            guard isDone else { throw Failed() }
            return output.prefix(Int(stream.total_out))
        }
    }
#endif
