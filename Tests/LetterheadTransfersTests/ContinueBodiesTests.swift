// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadTesting
import LetterheadTransfers
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct ContinueBodiesTests {
    @Test func `a stream that breaks off several times is one body`() async throws {
        let server = try await Script([
            served(cutAt: 10_000), served(cutAt: 1), served(cutAt: 0), served(cutAt: 30_000), served(),
        ]).server()
        let response = try await server.client(ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        #expect(response.body.length == content.count)
        #expect(try await response.body.data() == content)
        #expect(server.ranges == [nil, "bytes=10000-", "bytes=10001-", "bytes=10001-", "bytes=40001-"])
        #expect(server.requests.dropFirst().allSatisfy { $0.headers[.ifRange] == "\"1\"" })
        #expect(server.requests.allSatisfy { $0.headers[.acceptEncoding] == "identity" })
    }

    @Test func `the link keeps the laws`() async throws {
        try await LoaderLaws(patience: .seconds(40), link: { ContinueBodies(.immediately()) }).check()
    }

    @Test(
        arguments: [
            ["ETag": "\"1\""], ["ETag": "\"\""],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:37 GMT"],
        ] as [HTTPHeaders])
    func `a strong validator identifies the rest`(_ headers: HTTPHeaders) async throws {
        let mock = Mock([.broken(headers), .rest(headers)])
        let response = try await HTTPClient.over(mock, ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        #expect(try await response.body.data() == Data("abcdef".utf8))
        #expect(mock.requests.last?.headers[.ifRange] == headers[.eTag] ?? headers[.lastModified])
    }

    @Test(
        arguments: ([
            [:], ["ETag": "W/\"1\""], ["ETag": "1"], ["ETag": "\"1\"", "Accept-Ranges": "none"],
            ["ETag": "\"1\"", "Content-Encoding": "gzip"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:36 GMT"],
            [
                "ETag": "W/\"1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                "Date": "Sun, 06 Nov 1994 09:49:37 GMT",
            ],
        ] as [HTTPHeaders]).map { Mock.Response.broken($0) } + [Mock.Response.broken(length: nil)])
    func `a body that has no strong validator, a coding or no length breaks off`(_ broken: Mock.Response) async throws {
        let mock = Mock([broken, .rest(broken.headers)])
        let response = try await HTTPClient.over(mock, ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.code == .connectionLost && mock.requests.count == 1)
    }

    @Test func `a rest that breaks off after its last byte is complete`() async throws {
        var rest = Mock.Response.rest()
        (rest.length, rest.failure) = (nil, .connectionLost)
        let mock = Mock([.broken(), rest])
        let response = try await HTTPClient.over(mock, ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        #expect(try await response.body.data() == Data("abcdef".utf8))
        #expect(mock.requests.count == 2)
    }

    @Test func `a body that the transport decompresses breaks off`() async throws {
        // "Letterhead" in gzip, without the last bytes.
        let compressed = Data(base64Encoded: "H4sIAAAAAAACA/NJLSlJLcpITUwBACckWRwKAAAA")?.prefix(26) ?? Data()
        let server = try await Script([
            { _ in
                MockServer.Response(
                    headers: ["ETag": "\"1\"", "Content-Encoding": "gzip", "Content-Length": "30"], body: compressed)
            }
        ]).server()
        let response = try await server.client(ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        (MockServer.RangeFault.ignored, "the resource has changed, or the server does not support ranges"),
        (.refused, "416 Range Not Satisfiable"),
        (.shifted(by: 1), "bytes 50001 to 99999 instead of the requested ones"),
        (.length(100_001), "a different version"),
    ])
    func `anything else than the rest is an error that tells what is wrong`(
        _ fault: MockServer.RangeFault, _ message: String
    ) async throws {
        let server = try await Script([served(cutAt: 50_000), served(fault: fault)]).server()
        let response = try await server.client(ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(
            error?.code == .invalidResponse && error?.message.contains(message) == true, "\(String(describing: error))")
        #expect(error?.message.contains("after 50000 bytes") == true && error?.underlying is HTTPError)
        #expect(server.requests.count == 2)
    }

    @Test(
        arguments: [
            ["ETag": "\"2\""], ["ETag": "W/\"1\""], [:], ["ETag": "\"1\"", "Content-Encoding": "gzip"],
            ["ETag": "\"1\"", "Content-Range": "bytes 3-6/7"], ["ETag": "\"1\"", "Content-Range": "bytes +3-5/6"],
            ["ETag": "\"1\"", "Content-Range": "bytes 3-4/6"], ["ETag": "\"1\"", "Content-Range": "bytes */6"],
            ["ETag": "\"1\"", "Content-Range": "items 3-5/6"], ["ETag": "\"1\"", "Content-Range": "bytes 5-3/6"],
            ["ETag": "\"1\"", "Content-Range": "bytes 3-99999999999999999999/6"],
        ] as [HTTPHeaders])
    func `a part that may belong to another version is an error`(_ headers: HTTPHeaders) async throws {
        let mock = Mock([.broken(), .rest(headers), .rest()])
        let response = try await HTTPClient.over(mock, ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.code == .invalidResponse && mock.requests.count == 2)
    }

    @Test func `a rest that ends early is continued`() async throws {
        var first = Mock.Response.rest(range: "bytes 3-3/6")
        (first.pieces, first.length) = (["d"], 1)
        var second = Mock.Response.rest(range: "bytes 4-5/*")
        (second.pieces, second.length) = (["ef"], 2)
        let mock = Mock([.broken(), first, second])
        let response = try await HTTPClient.over(mock, ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        #expect(try await response.body.data() == Data("abcdef".utf8))
    }

    @Test func `a range of the caller is continued within the range`() async throws {
        let server = try await Script([served(cutAt: 50), served()]).server()
        let template = Get<HTTPResponse>("a").header(.range, "bytes=100-199")
        let response = try await server.client(ContinueBodies(.immediately())).stream(template)
        #expect(try await response.body.data() == content[100..<200])
        #expect(server.ranges == ["bytes=100-199", "bytes=150-199"])
    }

    @Test func `attempts that bring little are counted, with the waits of the strategy`() async throws {
        let clock = TestClock(isAutomatic: true)
        let link = ContinueBodies(Backoff(.exponential, maximumRetries: 4, clock: clock, random: { 1 }))
        var rest = Mock.Response.rest(range: "bytes 3-5/6")
        (rest.pieces, rest.failure) = (["d"], .timedOut)
        let mock = Mock([.broken(), .status(503, ["Retry-After": "5"]), .status(500), rest, .status(504), .rest()])
        let response = try await HTTPClient.over(mock, link).stream(Get<HTTPResponse>("a"))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.response?.status == 504)
        #expect(mock.requests.map { $0.headers[.range] }.last == "bytes=4-")
        #expect(clock.sleeps == [1, 5, 4, 8].map { .seconds($0) })
    }

    @Test func `an attempt that brings much begins the count again`() async throws {
        let large = Data(repeating: 7, count: 400_000)
        let server = try await Script((0..<5).map { _ in served(large, cutAt: 70_000) } + [served(large)]).server()
        let response = try await server.client(ContinueBodies(.immediately(1))).stream(Get<HTTPResponse>("a"))
        #expect(try await response.body.data() == large)
        #expect(server.requests.count == 6)
    }

    @Test(arguments: [("bytes 3-4/6", "def", "more bytes than announced"), ("bytes 3-5/6", "d", "truncated")])
    func `a rest without a length must have the bytes of its Content-Range`(
        range: String, piece: String, message: String
    ) async throws {
        var rest = Mock.Response.rest(range: range)
        (rest.pieces, rest.length) = ([piece], nil)
        let mock = Mock([.broken(), rest, .rest()])
        let response = try await HTTPClient.over(mock, ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.message.contains(message) == true && mock.requests.count == 2)
    }

    @Test func `a rest from another URL is an error`() async throws {
        let places = Mutex(["v1", "v2"])
        let server = try await MockServer.start { request in
            guard request.path == "/latest" else {
                return .content(content, for: request, eTag: "\"1\"", cutAt: request.path == "/v1" ? 10_000 : nil)
            }
            let place = places.withLock { $0.isEmpty ? "v2" : $0.removeFirst() }
            return MockServer.Response(status: .found, headers: ["Location": "/\(place)"])
        }
        let client = server.client(ContinueBodies(.immediately()))
        let response = try await client.stream(Get<HTTPResponse>("latest"))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.message.contains("a different URL") == true)
        await server.stop()
    }

    @Test func `a failure that is not temporary ends the body`() async throws {
        let mock = Mock([.broken(failure: .insecureConnection), .rest()])
        let response = try await HTTPClient.over(mock, ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.code == .insecureConnection && mock.requests.count == 1)
    }

    @Test func `a deadline includes the continuations`() async throws {
        let clock = TestClock(isAutomatic: true)
        let link = ContinueBodies(Backoff(.delayed(.seconds(2)), maximumRetries: 9, clock: clock))
        let mock = Mock([.broken()] + (0..<9).map { _ in .status(503) })
        let response = try await HTTPClient.over(mock, link).stream(Get<HTTPResponse>("a").deadline(in: .seconds(5)))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.code == .timedOut && error?.message.contains("waiting to continue the transfer") == true)
        #expect(mock.requests.count == 3)
    }

    @Test func `the progress is that of the whole body`() async throws {
        let (log, updates) = (ProgressLog(), ProgressUpdates())
        let server = try await Script([served(cutAt: 60_000), served()]).server()
        let template = Get<HTTPResponse>("a").onProgress(updates).onProgress { log.add($0) }
        let response = try await server.client(ContinueBodies(.immediately())).stream(template)
        _ = try await response.body.data()
        let counts = log.all.map(\.completedBytes)
        #expect(counts == counts.sorted() && counts.contains(60_000) && counts.last == content.count)
        #expect(log.all.allSatisfy { $0.totalBytes == content.count })
        var last: HTTPRequest.Progress?
        for await progress in updates { last = progress }
        #expect(last?.fractionCompleted == 1)
        await server.stop()
    }

    @Test func `leaving the loop ends the transfer while the response is kept`() async throws {
        let mock = Mock([.broken()])
        let response = try await HTTPClient.over(mock, ContinueBodies(.immediately())).stream(Get<HTTPResponse>("a"))
        for try await piece in response.body {
            #expect(piece == Data("abc".utf8))
            break
        }
        #expect(mock.hasCancelled)
        #expect(response.status == .ok)
    }

    @Test func `other methods and buffered responses are left alone`() async throws {
        let server = try await Script([served(cutAt: 10)]).server()
        let client = server.client(ContinueBodies(.immediately()))
        await #expect(throws: HTTPError.self) { try await client.send(Get<HTTPResponse>("a")) }
        await #expect(throws: HTTPError.self) { try await client.stream(Post<Data>("a")).body.data() }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.headers[.acceptEncoding] != "identity" })
    }

    @Test func `a negative number of attempts is refused`() async throws {
        let mock = Mock([.broken()])
        let error = await #expect(throws: HTTPError.self) {
            try await HTTPClient.over(mock, ContinueBodies(.immediately(-1))).stream(Get<HTTPResponse>("a"))
        }
        #expect(error?.code == .invalidRequest && mock.requests.isEmpty)
    }
}
