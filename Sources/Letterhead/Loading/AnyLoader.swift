/// A loader that responds with a closure, or that erases the type of another loader.
///
/// ```swift
/// let offline = AnyLoader { request in throw HTTPError(.cannotConnect, request: request, message: "offline") }
/// ```
public struct AnyLoader: HTTPLoader, CustomStringConvertible {
    private let answer: @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse
    private let wipe: @Sendable () async -> Void
    private let chain: (any LinkedLoader)?
    /// The description of the loader in a chain.
    public let description: String

    /// Erases the type of a loader. A reset is passed on to the loader. If the loader is a chain, ``HTTPLoader/tree``
    /// still shows its links.
    public init(_ loader: any HTTPLoader) {
        chain = loader as? any LinkedLoader
        answer = { (request) async throws(HTTPError) in try await loader.load(request) }
        wipe = { await loader.reset() }
        description = "AnyLoader(\((loader as? any CustomStringConvertible)?.description ?? "\(type(of: loader))"))"
    }

    /// Creates a loader from a closure. An error that the closure throws is mapped to an ``HTTPError``.
    public init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        self.answer = { (request) async throws(HTTPError) in
            try await request.mappingErrors { try await answer(request) }
        }
        wipe = {}
        chain = nil
        description = "AnyLoader"
    }

    /// Returns the response of the closure or the loader.
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { try await answer(request) }

    /// Resets the erased loader.
    public func reset() async { await wipe() }
}

extension AnyLoader: LinkedLoader {
    var links: [any LoaderLink] { chain?.links ?? [] }

    /// The end of the erased chain. A loader without links is its own end.
    var end: any HTTPLoader { chain.flatMap { $0.links.isEmpty ? nil : $0.end } ?? self }
}
