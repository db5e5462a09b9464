// SPDX-License-Identifier: MIT
import LetterheadFoundation
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
/// **Stubs.** The closure receives the template that was sent, without its decorators. It returns a value of the
/// endpoint's `Response`, or a ``StubAnswer``. The value is encoded, and the client decodes it. A stub for a value,
/// such as `.user("ada")`, matches one endpoint when several share a type, and a ``StubRoute`` matches requests by
/// method, path, query, headers and body. The first stub that matches and has calls left responds. After a redirect,
/// the new request no longer belongs to the endpoint, so only routes match it.
///
/// **Strictness.** A request that no stub answers fails with `.unexpectedRequest`. The error names the nearest stub and
/// the differences. ``verify()`` throws an error for such requests, even if the code under test ignored the error, and
/// for stubs that weren't called as often as expected. Pass `times: .any` for an optional stub. Use
/// `StubLoader(otherwise: loader)` to pass all other requests to another loader.
///
/// **Time.** The loader enforces a request's `timeout`, `deadline` and `idleTimeout`, and measures them on its clock.
/// With a ``TestClock``, a test with a slow response takes no real time.
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
    ///   - clock: measures delays and the requests' time limits. Default: the continuous clock.
    ///   - encoder: encodes the stubs' values. Default: nil (the client decoder's counterpart).
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

    /// The same loader, except that a stub that you add to it replaces earlier ones. Use it in a test that needs
    /// another response than the stubs that all tests share.
    ///
    /// ```swift
    /// stubs.on(GetUser.self, times: .any) { template in User(login: template.login) }   // for all tests
    /// stubs.overriding.on(GetUser.self) { _ in .status(.notFound) }                     // for this test
    /// ```
    ///
    /// The new stub replaces all earlier stubs with the same type, even if their conditions differ. They respond to no
    /// further request, and ``verify()`` ignores them. The new stub takes the first one's place, or comes before all
    /// others. Recorded calls stay. A stub for a template or a route replaces stubs for an equal template or route.
    /// Templates are equal if their requests have the same method, path, query and body.
    public var overriding: StubLoader { StubLoader(overriding: self) }

    /// Responds with the first matching stub that has calls left.
    ///
    /// - Throws: `.unexpectedRequest` if no stub responds, `.timedOut` if a time limit passes, or the stub's error.
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

    /// Resets the loader for other requests, if there is one. Keeps stubs and calls.
    public func reset() async { await otherwise?.reset() }

    /// Returns a body's bytes if it is in memory or can be sent only once.
    private static func body(of request: HTTPRequest) async throws(HTTPError) -> Data? {
        let chunks = try request.framedBody()
        if let data = chunks.data { return data }
        guard !request.body.isReplayable else { return nil }
        do { return try await chunks.allBytes() } catch { throw HTTPError(ofBody: error, request: request) }
    }
}

extension StubLoader {
    /// The running test's stub loader, or nil if the test has no scope, or if the scope's mock has another type. See
    /// ``ScopedLoader``.
    public static var current: StubLoader? { ScopedLoader.current as? StubLoader }
}
