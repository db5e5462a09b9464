// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadSigning
import LetterheadStreaming

/// Something that programs do often, over a transport that responds at once.
struct Operation: Sendable {
    let name: String
    /// How many of the thing one run does, such as the lines of a body.
    let units: Int
    private let once: @Sendable () async throws -> Void

    /// Runs the operation off the main actor, as a client does.
    @concurrent
    func run(_ times: Int) async throws {
        for _ in 0..<times { try await once() }
    }

    private init(_ name: String, units: Int = 1, _ once: @escaping @Sendable () async throws -> some Any) {
        (self.name, self.units) = (name, units)
        self.once = { consume(try await once()) }
    }

    static func all() async throws -> [Operation] { building + sending + linked + iterating }

    private static var building: [Operation] {
        let user = User(id: 1, name: "Ada")
        return [
            Operation("build a GET") { try StandardRequestBuilder(Get<User>("users/1")).request() },
            Operation("build a GET with two query items and a header") {
                let template = Get<User>("users", query: ["page": 2, "sort": "name"], headers: ["X-Trace": "1"])
                return try StandardRequestBuilder(template).request()
            },
            Operation("build a GET with three modifiers") {
                let template = Get<User>("users/1").header("X-Trace", "1").timeout(.seconds(5)).query("page", 2)
                return try StandardRequestBuilder(template).request()
            },
            Operation("build a POST of JSON") {
                try StandardRequestBuilder(Post<User>("users", body: JSONBody(user))).request()
            },
            Operation("encode a form of two values") { try FormBody(encoding: user).encode() },
            Operation("encode a multipart body of three parts") {
                try MultipartBody([
                    .text("Ada", name: "name"), .text("1", name: "id"),
                    .data(Data(count: 64), name: "file", filename: "file.bin"),
                ]).encode()
            },
        ]
    }

    private static var sending: [Operation] {
        let plain = HTTPClient(environment: Answer.environment, transport: Answer())
        let user = User(id: 1, name: "Ada")
        let request = plainRequest
        let credentials = AWSCredentials(accessKey: "AKIDEXAMPLE", secretKey: "secret")
        let signer = AWSSigner(service: "s3", region: "eu-central-1", credentials: .fixed(credentials)) {
            Date(timeIntervalSince1970: 1_369_353_600)
        }
        return [
            Operation("send a request without a template") { try await plain.send(request) },
            Operation("send a GET, decode JSON") { try await plain.send(Get<User>("users/1")) },
            Operation("send a POST of JSON, decode JSON") {
                try await plain.send(Post<User>("users", body: JSONBody(user)))
            },
            sending(
                "a GET with a bearer token",
                HTTPClient(
                    environment: Answer.environment, authentication: .bearer("token"), transport: Answer())),
            sending(
                "a GET that is signed for AWS",
                HTTPClient(
                    environment: Answer.environment, authentication: .signing(by: signer), transport: Answer())),
            sending(
                "a GET with an observer",
                HTTPClient(
                    environment: Answer.environment, observers: [Ignore()], transport: Answer())),
            sending(
                "a GET with a cookie, store a cookie",
                HTTPClient(
                    environment: Answer.environment, cookies: CookieJar(),
                    transport: Answer(headers: ["Set-Cookie": "id=1"]))),
        ]
    }

    private static var linked: [Operation] {
        let retrying = Backoff(.immediate, maximumRetries: 1)
        let chain = (0..<10).reduce(Answer() as any HTTPLoader) { next, _ in Pass() --> next }
        let request = plainRequest
        let cache = ResponseCache(store: .memory(bytes: 1 << 20))
        return [
            sending(
                "a GET that is retried once",
                HTTPClient(
                    environment: Answer.environment, retrying: retrying, retryBudget: .unlimited,
                    transport: EverySecond(.serviceUnavailable))),
            sending(
                "a GET that is redirected once",
                HTTPClient(
                    environment: Answer.environment,
                    transport: EverySecond(.temporaryRedirect, headers: ["Location": "/users/2"]))),
            sending(
                "a GET whose response is cached",
                HTTPClient(
                    environment: Answer.environment, cache: cache,
                    transport: Once())),
            Operation("pass a request through ten links") { try await chain.load(request) },
        ]
    }

    private static var iterating: [Operation] {
        let count = 1_000
        let pages = HTTPClient(environment: Answer.environment, transport: Numbered(last: count))
        let template = Get<Numbers>("numbers").paginated(by: .cursor(\.next, parameter: "page"))
        let events = streaming("text/event-stream", "id: 1\nevent: message\ndata: a text of some words\n\n", count)
        let values = streaming("application/x-ndjson", #"{"id":1,"name":"Ada"}"# + "\n", count)
        let lines = Data(String(repeating: String(repeating: "a", count: 99) + "\n", count: count).utf8)
        return [
            Operation("read one of many pages", units: count) { try await counted(pages.pages(of: template)) },
            Operation("read one of many server-sent events", units: count) {
                try await counted(events.events(of: Get<String>("events")))
            },
            Operation("read one of many JSON values", units: count) {
                try await counted(values.values(of: Get<String>("rows"), as: User.self))
            },
            Operation("read one of many lines", units: count) { try await counted(HTTPResponseBody(lines).lines) },
        ]
    }

    private static var plainRequest: HTTPRequest {
        var request = HTTPRequest()
        (request.host, request.path) = ("api.example.com", "/users/1")
        return request
    }

    private static func sending(_ name: String, _ client: HTTPClient) -> Operation {
        Operation("send \(name)") { try await client.send(Get<User>("users/1")) }
    }

    private static func streaming(_ type: String, _ piece: String, _ count: Int) -> HTTPClient {
        let transport = Answer(headers: ["Content-Type": type], body: String(repeating: piece, count: count))
        return HTTPClient(environment: Answer.environment, transport: transport)
    }

    private static func counted(_ elements: some AsyncSequence) async throws -> Int {
        var count = 0
        for try await _ in elements { count += 1 }
        return count
    }
}

/// Uses a value as far as the compiler can tell.
@inline(never)
@_optimize(none)
private func consume<Value>(_ value: Value) {}
