extension LoaderLink {
    /// The link for the requests of which a condition holds. Other requests pass it by.
    ///
    /// ```swift
    /// Deduplicate().when { $0.method.isSafe }
    /// ```
    ///
    /// - Parameters:
    ///   - otherwise: the link for the other requests. Default: nil (they pass by).
    ///   - condition: called for each request. An error that it throws fails the load, and nothing is sent.
    public func when(
        otherwise: (any LoaderLink)? = nil, _ condition: @escaping @Sendable (HTTPRequest) async throws -> Bool
    ) -> some CompositeLink {
        When(condition, self, otherwise: otherwise)
    }

    /// The link for the requests whose option is true, so that a request may opt out of it, or in.
    ///
    /// ```swift
    /// PrintLoader().when(PrintsRequests.self)       // request[option: PrintsRequests.self] = false opts out
    /// ```
    ///
    /// - Parameters:
    ///   - option: the option that is read.
    ///   - otherwise: the link for the other requests. Default: nil (they pass by).
    public func when<Option: HTTPRequestOption & SendableMetatype>(
        _ option: Option.Type, otherwise: (any LoaderLink)? = nil
    ) -> some CompositeLink where Option.Value == Bool {
        When(option, self, otherwise: otherwise)
    }
}

/// Has a link do its work for some requests only.
struct When: CompositeLink, CustomStringConvertible {
    private let condition: @Sendable (HTTPRequest) async throws -> Bool
    private let link: any LoaderLink
    private let otherwise: (any LoaderLink)?

    /// A link for the requests of which a condition holds.
    ///
    /// - Parameters:
    ///   - condition: asked for each request; an error that it throws fails the load, and nothing is sent.
    ///   - link: for requests of which it holds.
    ///   - otherwise: for the others. Default: nil, they pass by.
    init(
        _ condition: @escaping @Sendable (HTTPRequest) async throws -> Bool, _ link: any LoaderLink,
        otherwise: (any LoaderLink)? = nil
    ) {
        self.condition = condition
        self.link = link
        self.otherwise = otherwise
    }

    /// A link for the requests whose option is true, so that a request may opt out of it, or in.
    init<Option: HTTPRequestOption & SendableMetatype>(
        _ option: Option.Type, _ link: any LoaderLink, otherwise: (any LoaderLink)? = nil
    ) where Option.Value == Bool {
        self.init({ $0[option: Option.self] }, link, otherwise: otherwise)
    }

    /// The link, and the other if there is one.
    var parts: [(name: String?, link: any LoaderLink)] {
        [(nil, link)] + (otherwise.map { [("otherwise", $0)] } ?? [])
    }

    /// Has the link answer if the condition holds, else the other or the next loader.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let holds: Bool
        do { holds = try await condition(request) } catch { throw HTTPError(error, request: request) }
        guard let link = holds ? link : otherwise else { return try await next.load(request) }
        return try await link.load(request, next: next)
    }

    /// `When(Deduplicate)`.
    var description: String { chainName(of: self, parts: parts) }
}
