// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

/// A transport for tests that responds by endpoint or by route, and records every call.
///
/// ```swift
/// let stubs = StubLoader()
/// stubs.on(GetUser.self) { template in User(login: template.login) }
/// stubs.on(DeleteUser.self, times: 1) { _ in .status(.noContent) }
/// let client = HTTPClient(environment: environment, transport: stubs)
///
/// _ = try await client.send(GetUser(login: "ada").header("X-Trace", "1"))
/// #expect(stubs.calls(of: GetUser.self).map(\.template.login) == ["ada"])
/// try stubs.verify()
/// ```
///
/// ``verify()`` throws an error if a request had no stub, or a stub was not called as often as expected.
///
/// ## Stubs
///
/// A stub closure receives the template that was sent, without its decorators. It returns a `Response` value of the
/// endpoint, or a ``StubAnswer``. The value is encoded, and the client decodes it.
///
/// - A stub for a type, such as `GetUser.self`, matches all requests for this endpoint.
/// - A stub for a value, such as `.user("ada")`, matches one endpoint when several share a type.
/// - A stub for a ``StubRoute`` matches requests by method, path, query, headers and body. After a redirect, the new
///   request doesn't belong to the endpoint any more, so only routes match it.
///
/// If several stubs match, the first one that has calls left responds.
///
/// ## Requests without a stub
///
/// If no stub answers a request, it fails with `.unexpectedRequest`. The error names the nearest stub and the
/// differences. ``verify()`` throws an error as well, so the test fails even if the code under test has ignored that
/// error.
///
/// If a stub needn't be called, pass `times: .any` for it. To pass all other requests to a different loader, use
/// `StubLoader(otherwise: loader)`.
///
/// ## Time
///
/// The loader enforces the `timeout`, `deadline` and `idleTimeout` of a request, and measures them on its clock. With a
/// ``TestClock``, a test with a slow response takes no real time.
public final class StubLoader: HTTPLoader {
    // This type is a class because all references share the stubs and the record.

    let board: StubBoard
    /// Whether an added stub replaces stubs with the same subject.
    let isOverriding: Bool
    private let exchange: MockExchange
    private let encoder: (any HTTPBodyEncoder)?
    private let otherwise: (any HTTPLoader)?

    /// Creates a loader without stubs.
    ///
    /// - Parameters:
    ///   - clock: measures delays and request time limits. Default: the continuous clock.
    ///   - encoder: encodes the values of stubs. Default: nil (an encoder that matches the client decoder).
    ///   - otherwise: responds to requests that no stub answers. Default: nil (such a request is an error).
    public init(
        clock: any Clock<Duration> = ContinuousClock(), encoder: (any HTTPBodyEncoder)? = nil,
        otherwise: (any HTTPLoader)? = nil
    ) {
        (board, isOverriding, exchange) = (StubBoard(), false, MockExchange(clock: clock))
        self.encoder = encoder
        self.otherwise = otherwise
    }

    private init(overriding other: StubLoader) {
        (board, isOverriding, exchange) = (other.board, true, other.exchange)
        (encoder, otherwise) = (other.encoder, other.otherwise)
    }

    /// The same loader, except that a stub that you add to it replaces earlier ones. Use it if one test needs a
    /// different response than the stubs that all tests share.
    ///
    /// ```swift
    /// stubs.on(GetUser.self, times: .any) { template in User(login: template.login) }   // for all tests
    /// stubs.overriding.on(GetUser.self) { _ in .status(.notFound) }                     // for this test
    /// ```
    ///
    /// - The new stub replaces all earlier stubs for the same type, even if their conditions differ. A stub for a
    ///   template or a route replaces stubs for an equal template or route. Templates are equal if their requests have
    ///   the same method, path, query and body.
    /// - It takes the position of the first stub that it replaces. If it replaces none, it comes before all others.
    /// - Replaced stubs respond to no further request, and ``verify()`` ignores them. Recorded calls stay.
    public var overriding: StubLoader { StubLoader(overriding: self) }

    /// Responds with the first matching stub that has calls left.
    ///
    /// - Throws: `.unexpectedRequest` if no stub responds, `.timedOut` if a time limit passes, or what the stub throws.
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try exchange.check(request)
        let input = StubInput(
            request: request, body: try await Self.body(of: request), clock: exchange.clock, encoder: encoder)
        let claim = board.claim(input, at: exchange.now)
        do throws(HTTPError) {
            let response = try await respond(to: input, claim)
            board.finish(claim.number, .success(response))
            return response
        } catch {
            board.finish(claim.number, .failure(error))
            throw error
        }
    }

    private func respond(to input: StubInput, _ claim: StubBoard.Claim) async throws(HTTPError) -> HTTPResponse {
        if let (stub, turn) = claim.found {
            return try await exchange.load(input.request) { _ in try await stub.respond(input, turn) }
        }
        if let otherwise, !claim.isForbidden { return try await otherwise.load(input.forwarded) }
        throw HTTPError(
            .unexpectedRequest, request: input.request, message: board.refuse(input), mayHaveBeenSent: false)
    }

    /// Resets the loader that receives other requests, if there is one. Stubs and calls stay.
    public func reset() async { await otherwise?.reset() }

    /// Returns the bytes of a body that is in memory or can be read only once. Returns nil for any other body.
    private static func body(of request: HTTPRequest) async throws(HTTPError) -> Data? {
        let chunks = try request.framedBody()
        if let data = chunks.data { return data }
        guard !request.body.isReplayable else { return nil }
        do { return try await chunks.allBytes() } catch { throw HTTPError(ofBody: error, request: request) }
    }
}

extension StubLoader {
    /// The stub loader of the running test (see ``ScopedLoader``).
    ///
    /// Nil if the test has no scope, or if the mock in its scope has a different type.
    public static var current: StubLoader? { ScopedLoader.current as? StubLoader }
}

extension StubLoader {
    /// The received requests, in order, including those that no stub answered.
    public var requests: [HTTPRequest] { board.records.map(\.input.request) }

    /// All calls, in order, including those that no stub answered. A plain request has no template.
    public var calls: [StubCall<(any RequestTemplate)?>] {
        board.records.map { $0.call($0.input.request.template.map { $0.root }) }
    }

    /// Returns the calls of an endpoint, in order.
    ///
    /// ```swift
    /// #expect(stubs.calls(of: GetUser.self).count == 2)
    /// #expect(stubs.calls(of: DeleteUser.self).isEmpty)
    /// ```
    public func calls<Template: RequestTemplate>(of type: Template.Type) -> [StubCall<Template>] {
        board.records.compactMap { record in record.input.template(as: type).map { record.call($0) } }
    }

    /// Returns the calls of one endpoint, in order. They have the same method, path, query and body as the template
    /// request.
    ///
    /// ```swift
    /// #expect(stubs.calls(of: .user("ada")).count == 1)
    /// ```
    public func calls<Template: RequestTemplate>(of template: Template) -> [StubCall<Template>] {
        guard let parts = try? StubTemplate(template) else { return [] }
        return board.records.filter { parts.differences(from: $0.input).isEmpty }.map { record in
            record.call(record.input.template(as: Template.self) ?? template)
        }
    }

    /// Returns the requests that the stubs for a route have answered, in order.
    public func calls(of route: StubRoute) -> [StubCall<(any RequestTemplate)?>] {
        board.records.filter { $0.subject == .route(route) }.map { $0.call($0.input.request.template.map { $0.root }) }
    }

    /// Waits until an endpoint has `count` calls, and returns them.
    ///
    /// ```swift
    /// let task = Task { try await model.refresh() }
    /// try await stubs.waitForCalls(of: GetUser.self)
    /// ```
    ///
    /// A call counts when its request arrives. If a test could hang here, give it a time limit.
    ///
    /// - Parameters:
    ///   - count: how many calls to wait for. Default: 1.
    ///   - type: the endpoint type.
    /// - Throws: `CancellationError` if the calling task is cancelled.
    @discardableResult
    public func waitForCalls<Template: RequestTemplate>(
        _ count: Int = 1, of type: Template.Type
    ) async throws -> [StubCall<Template>] {
        try await board.wait { calls(of: type).count >= count }
        return calls(of: type)
    }

    /// Throws an error if a stub was called less often than expected, or if there was a request that no stub answered.
    ///
    /// A stub for a type such as `Get<User>` answers every endpoint with that type. If it has no `where:` and has
    /// answered requests with different routes, this is an error as well: the test would not notice that it received a
    /// response for a different endpoint.
    ///
    /// - Throws: ``StubViolations``, which describes each violation.
    public func verify() throws(StubViolations) {
        let violations = board.violations
        if !violations.isEmpty { throw StubViolations(violations: violations) }
    }
}

/// The missing calls and unexpected requests that ``StubLoader/verify()`` has found.
public struct StubViolations: Error, Sendable, CustomStringConvertible {
    /// One sentence for each violation. Violations of stubs come first, in stub order.
    public let violations: [String]

    /// One line for each violation.
    public var description: String { violations.joined(separator: "\n") }
}

/// A request that a ``StubLoader`` has received.
///
/// ```swift
/// let call = try #require(stubs.calls(of: CreateUser.self).first)
/// #expect(call.template.user.login == "ada")
/// #expect(call.request.headers["X-Trace"] == "1")
/// #expect(try await call.body(as: User.self).login == "ada")
/// #expect(call.response?.status == .created)
/// ```
///
/// A call is a snapshot. If you read it before the response has arrived, it doesn't change later.
public struct StubCall<Template: Sendable>: Sendable {
    /// The template that was sent, without its decorators.
    public let template: Template
    /// The sent request, after all links have changed it.
    public var request: HTTPRequest { input.request }
    /// The position of the call among all calls that the loader has received, starting at 1. Use it to check which
    /// endpoint was called first.
    public let number: Int
    /// When the call arrived, on the loader clock. The time begins with zero when the loader is created.
    public let time: Duration
    /// The response. It's nil while the call is in progress, and after an error. It doesn't contain a streamed body.
    public let response: HTTPResponse?
    /// The error that ended the call. It's nil while the call is in progress, and after a response.
    public let error: HTTPError?
    let input: StubInput

    /// Returns the request body as bytes. A body that can be read only once is read when the call arrives.
    ///
    /// - Throws: an error from reading the body.
    public func body() async throws -> Data { try await input.allBytes() }

    /// Returns the decoded request body.
    ///
    /// - Parameters:
    ///   - type: the value type.
    ///   - decoder: the decoder. Default: a plain `JSONDecoder`.
    /// - Throws: an error from reading or decoding the body.
    public func body<Value: Decodable>(
        as type: Value.Type, decoder: any HTTPBodyDecoder = JSONDecoder()
    ) async throws -> Value {
        try decoder.decode(type, from: try await body())
    }
}

extension BodyChunks {
    func allBytes() async throws -> Data {
        if let data { return data }
        var bytes = Data()
        for try await chunk in self { bytes += chunk }
        return bytes
    }
}

struct StubRecord: Sendable {
    let input: StubInput
    let number: Int
    let time: Duration
    /// What the stub that answered was declared for, or nil if no stub answered.
    let subject: Stub.Subject?
    var response: HTTPResponse?
    var error: HTTPError?

    func call<Template: Sendable>(_ template: Template) -> StubCall<Template> {
        StubCall(template: template, number: number, time: time, response: response, error: error, input: input)
    }
}
