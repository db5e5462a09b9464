/// A loader whose answer is a closure, or another loader behind a plain type.
///
/// ```swift
/// let offline = AnyLoader { request in throw HTTPError(.cannotConnect, request: request, message: "offline") }
/// ```
public struct AnyLoader: HTTPLoader, CustomStringConvertible {
    private let answer: @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse
    private let wipe: @Sendable () async -> Void
    /// What it prints as in a chain.
    public let description: String

    /// A loader behind a plain type; its reset is passed on.
    public init(_ loader: any HTTPLoader) {
        answer = { (request) async throws(HTTPError) in try await loader.load(request) }
        wipe = { await loader.reset() }
        description = "AnyLoader(\((loader as? any CustomStringConvertible)?.description ?? "\(type(of: loader))"))"
    }

    /// A closure as a loader; an error that it throws is mapped to an ``HTTPError``.
    public init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        self.answer = { (request) async throws(HTTPError) in
            do { return try await answer(request) } catch { throw HTTPError(error, request: request) }
        }
        wipe = {}
        description = "AnyLoader"
    }

    /// Has the closure or the loader answer.
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { try await answer(request) }

    /// Resets the loader.
    public func reset() async { await wipe() }
}
