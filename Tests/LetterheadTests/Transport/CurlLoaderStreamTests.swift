// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization
    import Testing

    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct CurlLoaderStreamTests {
        let loader = Carrier.loader()

        func streamed(_ server: RawServer) -> HTTPRequest {
            HTTPRequest(url: server.url()).with { $0.responseDelivery = .streamed }
        }

        @Test func `the head is returned before the body has arrived`() async throws {
            let mayGoOn = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
                mayGoOn.wait()
                connection.write("body")
            }
            let response = try await loader.load(streamed(server))
            #expect(response.status == 200 && response.body.length == 4)
            mayGoOn.signal()
            #expect(try await response.body.data() == Data("body".utf8))
            #expect(response.metrics.total > .zero)
        }

        @Test func `a reader that pauses makes the server wait, and then receives every byte`() async throws {
            let (size, written) = (128 << 20, ByteTally())
            let server = RawServer { connection, _ in
                connection.limitOutput(to: 65536)
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                let piece = [UInt8](repeating: 7, count: 65536)
                while written.value < size, connection.write(piece) { written.add(piece.count) }
                _ = connection.waitForEnd()
            }
            let response = try await loader.load(streamed(server))
            await settled { written.value }
            // The kernel's receive buffer may grow to 32 MiB. The loader holds little more than 1 MiB.
            #expect(written.value < 48 << 20)
            var (count, areRight) = (0, true)
            for try await chunk in response.body {
                count += chunk.count
                areRight = areRight && chunk.first == 7 && chunk.last == 7
            }
            #expect(count == size && areRight)
        }

        @Test func `trailers are available when the body has ended`() async throws {
            let server = RawServer.answering(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n")
            let response = try await loader.load(streamed(server))
            #expect(try await response.body.data() == Data("ok".utf8))
            #expect(response.trailers.values(for: "X-Sum") == ["1", "2"])
            #expect(try await loader.load(HTTPRequest(url: server.url())).trailers.values(for: "X-Sum") == ["1", "2"])
        }

        @Test(arguments: ["HEAD", "GET"])
        func `a streamed response without a body ends at once`(method: String) async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let request = streamed(server).with { $0.method = HTTPMethod(method) }
            #expect(try await loader.load(request).body.data().isEmpty)
        }

        @Test(
            "A body that is cut short gives what came, and then an error",
            arguments: [
                "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nshort",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
            ])
        func cutShort(bytes: String) async throws {
            let server = RawServer.answering(bytes, closing: true)
            let response = try await loader.load(streamed(server))
            var text = ""
            let error = await #expect(throws: HTTPError.self) {
                for try await chunk in response.body { text += String(decoding: chunk, as: UTF8.self) }
            }
            #expect(error?.code == .invalidResponse && text == "short")
        }

        @Test func `a failure before the head is an error of the load`() async throws {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\n", closing: true)
            #expect(await failure { try await loader.load(streamed(server)) }?.code == .invalidResponse)
        }

        @Test func `a malformed head of a streamed response closes its connection`() async throws {
            let ended = DispatchSemaphore(value: 0)
            let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nfi"
            let server = RawServer.stalling(after: bytes, ended: ended)
            #expect(await failure { try await loader.load(streamed(server)) }?.code == .invalidResponse)
            #expect(await ended.isSignaled())
        }

        @Test(arguments: [false, true])
        func `dropping a streamed body, partly read or unread, closes its connection`(isRead: Bool) async throws {
            let ended = DispatchSemaphore(value: 0)
            let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart of it"
            let server = RawServer.stalling(after: bytes, ended: ended)
            do {
                let response = try await loader.load(streamed(server))
                if isRead { for try await _ in response.body { break } }
            }
            #expect(await ended.isSignaled())
        }

        @Test func `cancelling the reader ends it at once`() async throws {
            let server = RawServer.stalling(after: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            let (response, reads) = (try await loader.load(streamed(server)), CredentialBell())
            let task = Task {
                reads.ring()
                return try await response.body.data()
            }
            await reads.wait()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        @Test func `time in which the body is not read is not idle time`() async throws {
            let configuration = TransportConfiguration().with { $0.idleTimeout = .seconds(2) }
            let size = 4 << 20
            let server = RawServer.answering(
                "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n" + String(repeating: "x", count: size))
            let response = try await Carrier.loader(configuration).load(streamed(server))
            await waitForTimeout(of: .milliseconds(2_500))
            #expect(try await response.body.data().count == size)
        }
    }

    /// A number that servers' threads and the test share, hence a class.
    final class ByteTally: Sendable {
        private let number = Atomic(0)
        var value: Int { number.load(ordering: .sequentiallyConsistent) }
        func add(_ amount: Int) { number.wrappingAdd(amount, ordering: .sequentiallyConsistent) }
    }
#endif
