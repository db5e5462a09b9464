// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRelay
import LetterheadTesting
import TestKit
import Testing

private let target = #""target":{"host":"h","path":"/a","query":""}"#

/// What a peer writes to a relay's end is judged before it is sent, and requests can be kept as data.
@Suite(.timeLimit(.minutes(3))) struct RelayServerTests {
    @Test(arguments: [
        "", "nothing\n", #"{"letterhead":3}"# + "\n",
        #"{"letterhead":1,"request":{"headers":[],"settings":{},"target":{"host":"h","path":"a#b","query":""}}}\#n"#,
        #"{"letterhead":1,"request":{"headers":[],"settings":{},"target":{"host":"a b","path":"a","query":""}}}\#n"#,
        #"{"letterhead":1,"request":{"headers":[],"settings":{},"target":{"host":"h","path":"a b","query":""}}}\#n"#,
        #"{"letterhead":1,"request":{"headers":[["A\n","b"]],"settings":{},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[["Content-Length","9"]],"settings":{},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"settings":{"timeout":-1},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"settings":{"deadline":0},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"settings":{"timeout":1e400},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"settings":{"acceptedStatuses":[[3,1]]},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"settings":{"responseLimit":-1},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"method":"A B","settings":{},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"options":{"x":1},"settings":{},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"settings":{"secretHeaders":["A\n"]},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"settings":{"removedHeaders":["A:"]},"# + target + "}}\n",
        #"{"letterhead":1,"request":{"headers":[],"settings":{"boundHeaders":[["A","no-url"]]},"# + target + "}}\n",
        #"{"letterhead":1,"length":2,"request":{"headers":[],"method":"POST","settings":{},"# + target + "}}\nabc",
    ])
    func `a malformed message is refused, and nothing is sent`(message: String) async throws {
        let far = MockLoader { .ok($0) }
        let request = try HTTPRequest("https://h/")
        for answer in [
            await RelayServer(far).answer(Data(message.utf8)),
            await RelayServer(far).answers(to: Data(message.utf8)).first { _ in true } ?? Data(),
        ] {
            let error = #expect(throws: HTTPError.self) { try WireForm().response(from: answer, to: request) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false, "\(String(describing: error))")
        }
        #expect(far.requests.isEmpty)
    }

    @Test func `the largest numbers of a peer end no process`() async throws {
        let settings =
            #"{"timeout":9223372036854775807,"deadline":9223372036854775807,"responseLimit":9223372036854775807,"#
            + #""acceptedStatuses":[[-9223372036854775808,9223372036854775807],[0,1]]}"#
        let message = #"{"letterhead":1,"request":{"headers":[],"settings":"# + settings + "," + target + "}}\n"
        let far = MockLoader { .ok($0) }
        let answer = await RelayServer(far).answer(Data(message.utf8))
        #expect(try WireForm().response(from: answer, to: HTTPRequest("https://h/")).status == .ok)
    }

    @Test func `a message that is delivered twice is sent once`() async throws {
        let far = HeldLoader()
        let server = RelayServer(far)
        let message = Data((#"{"letterhead":1,"request":{"headers":[],"id":"1","settings":{},"# + target + "}}\n").utf8)
        let first = Task { await server.answer(message) }
        await far.waitForRunning(1)
        let request = try HTTPRequest("https://h/")
        let second = await server.answer(message)
        let error = #expect(throws: HTTPError.self) { try WireForm().response(from: second, to: request) }
        #expect(error?.message.contains("id is already in use") == true && error?.mayHaveBeenSent == true)
        far.open()
        #expect(try WireForm().response(from: await first.value, to: request).status == .ok)
        let third = await server.answer(message)
        let late = #expect(throws: HTTPError.self) { try WireForm().response(from: third, to: request) }
        #expect(late?.message.contains("id is already in use") == true && late?.mayHaveBeenSent == true)
        #expect(far.started.count == 1)
    }

    @Test func `a request that its cancellation has overtaken is not sent`() async throws {
        let far = MockLoader { .ok($0) }
        let server = RelayServer(far)
        _ = await server.answer(Data(#"{"letterhead":1,"cancel":"1"}\#n"#.utf8))
        let request = try HTTPRequest("https://h/")
        for answer in [await server.answer(message("1")), await server.answers(to: message("1")).first { _ in true }] {
            let error = try #require(throws: HTTPError.self) {
                try WireForm().response(from: answer ?? Data(), to: request)
            }
            #expect(error.code == .invalidRequest && error.message.contains("was cancelled"))
        }
        #expect(far.requests.isEmpty)
        _ = await server.answer(message("2"))
        _ = await server.answer(Data(#"{"letterhead":1,"cancel":"2"}\#n"#.utf8))
        let second = await server.answer(message("2"))
        let late = #expect(throws: HTTPError.self) { try WireForm().response(from: second, to: request) }
        #expect(late?.message.contains("id is already in use") == true && far.requests.count == 1)
    }

    @Test func `texts of the other end forge no lines of a log`() throws {
        let request = try HTTPRequest("https://h/")
        func answer(_ head: String) -> Data { Data((#"{"letterhead":1,"# + head + "}\n").utf8) }
        let failure =
            #""failure":{"code":"a\u000a2026 \u001b[31mforged","mayHaveBeenSent":false,"message":"b\u000ac\u202e"}"#
        let error = try #require(throws: HTTPError.self) { try WireForm().response(from: answer(failure), to: request) }
        #expect(error.code == .unknown && !error.mayHaveBeenSent)
        #expect(error.message == #"at the other end of the relay: "a 2026 [31mforged", b\u{a}c\u{202e}"#)
        #expect(!"\(error)".unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
        #expect("\(HTTPError.Code(rawValue: "a\nb"))" == #"a\u{a}b"#)
        for name in [#"A\u000aB"#, "A:", ""] {
            let response = #""response":{"headers":[],"headersLeftOut":["\#(name)"],"status":200}"#
            let error = #expect(throws: HTTPError.self) { try WireForm().response(from: answer(response), to: request) }
            #expect(error?.code == .invalidResponse)
        }
    }

    private func message(_ id: String, _ options: String = "") -> Data {
        Data(
            (#"{"letterhead":1,"request":{"headers":[],"id":"\#(id)",\#(options)"settings":{},"# + target + "}}\n").utf8
        )
    }

    @Test func `the number and the length of the ids that are kept are limited`() async throws {
        let far = MockLoader { .ok($0) }
        let server = RelayServer(far)
        for number in 0...1024 { _ = await server.answer(message("\(number)")) }
        #expect(far.requests.count == 1025)
        _ = await server.answer(message("1"))
        #expect(far.requests.count == 1025)
        _ = await server.answer(message("0"))
        _ = await server.answer(message(String(repeating: "x", count: 101)))
        #expect(far.requests.count == 1026)
    }

    @Test func `a reset cancels all requests at once`() async throws {
        let (started, cancelled) = (SharedValue(0), SharedValue(0))
        // Each request ends when both are cancelled.
        let far = AnyLoader { request in
            await withTaskCancellationHandler {
                started.withLock { $0 += 1 }
                while cancelled.withLock({ $0 }) < 2 { await Task.yield() }
            } onCancel: {
                cancelled.withLock { $0 += 1 }
            }
            throw HTTPError(.cancelled, request: request)
        }
        let server = RelayServer(far)
        let requests = ["1", "2"].map { id in Task { await server.answer(message(id)) } }
        await until { started.withLock { $0 } == 2 }
        _ = await server.answer(Data("{\"letterhead\":1,\"reset\":true}\n".utf8))
        #expect(cancelled.withLock { $0 } == 2)
        for request in requests { _ = await request.value }
    }

    @Test func `data that is not a request is described without its values`() throws {
        enum Tenant: HTTPRequestOption { static let defaultOptionValue = "none" }
        let form = WireForm(carrying: [WireForm.Option(Tenant.self, named: "tenant")])
        let data = message("1", #""options":{"tenant":12345},"#)
        let error = #expect(throws: HTTPError.self) { try form.request(from: data) }
        #expect(error?.message == "the data is not a request: the top level: expected String, found a number")
    }

    @Test func `an environment of the far end completes what a request leaves open, and replaces nothing`() async throws
    {
        let mock = MockLoader { .ok($0) }
        let environment = ServerEnvironment("http://api.example.com", method: .post)
        let server = RelayServer(ApplyEnvironment(environment) --> mock)
        let relay = Relay { await server.answer($0) }
        var request = HTTPRequest()
        request.path = "/a"
        _ = try await relay.load(request)
        (request.scheme, request.method) = ("https", .get)
        _ = try await relay.load(request)
        #expect(mock.requests.map(\.scheme) == ["http", "https"])
        #expect(mock.requests.map(\.method) == [.post, .get])
    }

    @Test func `a client answers with its cookies, and a reset removes them`() async throws {
        let server = try await MockServer.start { request in
            MockServer.Response(headers: ["Set-Cookie": "a=b"], body: Data((request.headers["Cookie"] ?? "none").utf8))
        }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), cookies: CookieJar())
        let far = RelayServer(client)
        let relay = Relay { await far.answer($0) }
        var request = HTTPRequest()
        request.path = "a"
        for expected in ["none", "a=b"] { #expect(try await relay.load(request).body.data() == Data(expected.utf8)) }
        await relay.reset()
        #expect(try await relay.load(request).body.data() == Data("none".utf8))
        await server.stop()
    }

    @Test func `a request is kept as data and sent later`() async throws {
        let form = WireForm(secrets: .travel)
        var request = try HTTPRequest(method: .post, "https://example.com/a?b=c%2f")
        request.headers[.authorization] = "Bearer t"
        request.body = JSONBody(["a": 1])
        let data = try await form.data(of: request)
        #expect(String(decoding: data, as: UTF8.self).hasSuffix("\n{\"a\":1}"))
        let read = try form.request(from: data)
        #expect(try read.urlString() == request.urlString() && read.headers == request.framedHeaders())
        #expect(try read.body.encode() == request.body.encode() && read.id != request.id)
        #expect(throws: HTTPError.self) { try form.response(from: data, to: request) }
        let response = HTTPResponse(
            request: request, status: 204, headers: ["A": "b"], body: HTTPResponseBody(Data([1])))
        let kept = try await form.data(of: response)
        let again = try form.response(from: kept, to: request)
        #expect(again.status == 204 && again.headers == ["A": "b"] && again.body.buffered == Data([1]))
        let error = #expect(throws: HTTPError.self) { try form.request(from: kept) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `a header of an environment belongs to its origin after the request was kept as data`() async throws {
        let environment = ServerEnvironment("https://api.example:444/v2", headers: ["X-Tenant": "acme"])
        let template = Get<HTTPResponse>("a").header("X-Own", "1").environment(environment)
        let form = WireForm()
        let data = try await form.data(of: StandardRequestBuilder(template).request())
        let again = try await form.data(of: form.request(from: data))
        for kept in [data, again] {
            let loader = MockLoader { request in
                let hops = ["api.example": "/b", "other.example": "https://api.example:444/c"]
                let next = request.path.string == "/b" ? "https://other.example/" : hops[request.host ?? ""]
                let isEnd = request.path.string == "/c"
                return HTTPResponse(
                    request: request, status: isEnd ? 200 : 302, headers: isEnd ? [:] : ["Location": next ?? ""])
            }
            _ = try await HTTPClient(transport: loader).send(form.request(from: kept))
            #expect(loader.requests.map(\.host) == ["api.example", "api.example", "other.example", "api.example"])
            #expect(loader.requests.map { $0.headers["X-Tenant"] } == ["acme", "acme", nil, nil])
            #expect(loader.requests.map { $0.headers["X-Own"] } == ["1", "1", "1", "1"])
        }
    }
}
