/// Has a link do its work for some requests only.
///
/// ```swift
/// When({ $0.method.isSafe }, Deduplicate())
/// When(PrintsRequests.self, PrintLoader())       // request[option: PrintsRequests.self] = false opts out
/// ```
public struct When: CompositeLink, CustomStringConvertible {
    private let condition: @Sendable (HTTPRequest) async throws -> Bool
    private let link: any LoaderLink
    private let otherwise: (any LoaderLink)?

    /// A link for the requests of which a condition holds.
    ///
    /// - Parameters:
    ///   - condition: asked for each request; an error that it throws fails the load, and nothing is sent.
    ///   - link: for requests of which it holds.
    ///   - otherwise: for the others. Default: nil, they pass by.
    public init(
        _ condition: @escaping @Sendable (HTTPRequest) async throws -> Bool, _ link: any LoaderLink,
        otherwise: (any LoaderLink)? = nil
    ) {
        self.condition = condition
        self.link = link
        self.otherwise = otherwise
    }

    /// A link for the requests whose option is true, so that a request may opt out of it, or in.
    public init<Option: HTTPRequestOption & SendableMetatype>(
        _ option: Option.Type, _ link: any LoaderLink, otherwise: (any LoaderLink)? = nil
    ) where Option.Value == Bool {
        self.init({ $0[option: Option.self] }, link, otherwise: otherwise)
    }

    /// The link, and the other if there is one.
    public var parts: [(name: String?, link: any LoaderLink)] {
        [(nil, link)] + (otherwise.map { [("otherwise", $0)] } ?? [])
    }

    /// Has the link answer if the condition holds, else the other or the next loader.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let holds: Bool
        do { holds = try await condition(request) } catch { throw HTTPError(error, request: request) }
        guard let link = holds ? link : otherwise else { return try await next.load(request) }
        return try await link.load(request, next: next)
    }

    /// `When(Deduplicate)`.
    public var description: String { chainName(of: self, parts: parts) }
}
