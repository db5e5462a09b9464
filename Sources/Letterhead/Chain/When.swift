// SPDX-License-Identifier: MIT
extension LoaderLink {
    /// Returns the link with a condition. Requests that don't meet it skip the link.
    ///
    /// ```swift
    /// Deduplicate().when { $0.method.isSafe }
    /// ```
    ///
    /// - Parameters:
    ///   - otherwise: the link for the other requests. Default: nil (they skip the link).
    ///   - condition: called for each request. If the condition throws, the request fails and nothing is sent. An
    ///     ``HTTPError`` is thrown unchanged. Any other error becomes the underlying error of an ``HTTPError``.
    public func when(
        otherwise: (any LoaderLink)? = nil, _ condition: @escaping @Sendable (HTTPRequest) async throws -> Bool
    ) -> some CompositeLink {
        When(condition, self, otherwise: otherwise)
    }

    /// Returns the link with a condition: an option of the request must be true. A request can thus opt out or opt in.
    ///
    /// ```swift
    /// PrintLoader().when(PrintsRequests.self)       // request[option: PrintsRequests.self] = false opts out
    /// ```
    public func when<Option: HTTPRequestOption & SendableMetatype>(
        _ option: Option.Type, otherwise: (any LoaderLink)? = nil
    ) -> some CompositeLink where Option.Value == Bool {
        When(option, self, otherwise: otherwise)
    }
}

extension HTTPLoader {
    /// Returns a link that lets this loader respond to the requests that meet a condition, instead of the rest of the
    /// chain. Use it to serve some requests from another source, such as one host's from a folder:
    ///
    /// ```swift
    /// let chain = fixtures.when { $0.host == "demo.example.com" } --> HTTPClient.defaultTransport
    /// ```
    ///
    /// - Parameter condition: called for each request. If it throws, the request fails and nothing is sent.
    public func when(_ condition: @escaping @Sendable (HTTPRequest) async throws -> Bool) -> some CompositeLink {
        When(condition, Responder(loader: self))
    }
}

/// A loader as a link that never calls the next loader.
private struct Responder: LoaderLink, CustomStringConvertible {
    let loader: any HTTPLoader

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await loader.load(request)
    }

    func reset(next: any HTTPLoader) async {
        await loader.reset()
        await next.reset()
    }

    var description: String { chainName(of: loader) }
}

struct When: CompositeLink, CustomStringConvertible {
    private let condition: @Sendable (HTTPRequest) async throws -> Bool
    private let link: any LoaderLink
    private let otherwise: (any LoaderLink)?

    init(
        _ condition: @escaping @Sendable (HTTPRequest) async throws -> Bool, _ link: any LoaderLink,
        otherwise: (any LoaderLink)? = nil
    ) {
        self.condition = condition
        self.link = link
        self.otherwise = otherwise
    }

    init<Option: HTTPRequestOption & SendableMetatype>(
        _ option: Option.Type, _ link: any LoaderLink, otherwise: (any LoaderLink)? = nil
    ) where Option.Value == Bool {
        self.init({ $0[option: Option.self] }, link, otherwise: otherwise)
    }

    var parts: [(name: String?, link: any LoaderLink)] {
        [(nil, link)] + (otherwise.map { [("otherwise", $0)] } ?? [])
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let holds = try await request.withHTTPErrors { try await condition(request) }
        guard let link = holds ? link : otherwise else { return try await next.load(request) }
        return try await link.load(request, next: next)
    }

    var description: String { chainName(of: self, parts: parts) }
}
