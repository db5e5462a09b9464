/// A template that requests one of several pages, and creates the template of the next page.
///
/// Use `template.paginated()` or `.paginated(by:)` with a client's `pages(of:)` or `items(of:)`. Implement the protocol
/// only if a custom ``Pagination`` cannot describe the API.
///
/// Laws: a template represents one page, requesting the next page creates a new value, and all decorators keep it
/// paginated.
public protocol PaginatedTemplate: RequestTemplate {
    /// The number of the page.
    var page: Int { get }

    /// The position of the page.
    var position: PagePosition { get }

    /// Returns the template of the next page, without the response of this one.
    ///
    /// If only that response identifies the next page, sending the template is `.invalidRequest`: use
    /// ``requestForNextPage(after:)``.
    func requestForNextPage() -> Self

    /// Returns what follows a page that has arrived.
    ///
    /// - Throws: an error if the response must identify the next page but does not.
    func requestForNextPage(after arrival: Page<Response>) async throws -> PageContinuation<Self>

    /// Returns this template at the position of a checkpoint.
    func resumed(from checkpoint: PageCheckpoint) -> Self
}

/// A page of a sequence.
public struct Page<Value: Sendable>: Sendable {
    /// The decoded value.
    public let value: Value
    /// The number of items on the page; nil if unknown.
    public let itemCount: Int?
    /// The response of the page.
    public let response: HTTPResponse
    /// The number of the page, 1 for the first.
    public let number: Int
    /// The checkpoint of the next page. It is nil for the last page, and in the page that is passed to
    /// `requestForNextPage(after:)`.
    ///
    /// If the link to the next page is invalid, a sequence that starts at the checkpoint is `.invalidRequest`.
    public let checkpoint: PageCheckpoint?

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - value: the decoded value.
    ///   - itemCount: the number of items; nil counts a collection, and leaves any other value uncounted. Default: nil.
    ///   - response: the response of the page.
    ///   - number: the number of the page. Default: 1.
    ///   - checkpoint: the checkpoint of the next page. Default: nil.
    public init(
        _ value: Value, itemCount: Int? = nil, response: HTTPResponse, number: Int = 1,
        checkpoint: PageCheckpoint? = nil
    ) {
        self.value = value
        self.itemCount = itemCount ?? (value as? any Collection)?.count
        self.response = response
        self.number = number
        self.checkpoint = checkpoint
    }
}

/// What follows a page.
public enum PageContinuation<Next: Sendable>: Sendable {
    /// The page is empty and the sequence has ended before it. The page is not returned.
    case ended
    /// The page is the last.
    case last
    /// The page is returned, and another one follows, with this template or position.
    case next(Next)

    /// Returns the same continuation with another value for the next page.
    public func map<Other: Sendable>(_ transform: (Next) -> Other) -> PageContinuation<Other> {
        switch self {
        case .ended: .ended
        case .last: .last
        case .next(let next): .next(transform(next))
        }
    }
}

/// A decorator that stays paginated around a paginated template.
///
/// Adopt it in a custom decorator, whose `base` must be a variable:
///
/// ```swift
/// extension Traced: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}
/// ```
public protocol PageForwarding: RequestDecorator, PaginatedTemplate where Base: PaginatedTemplate {
    /// The wrapped template, which is replaced by its next page.
    var base: Base { get set }
}

extension PageForwarding {
    /// The page number of the base.
    public var page: Int { base.page }

    /// The page position of the base.
    public var position: PagePosition { base.position }

    /// Returns this decorator around the next page of the base.
    public func requestForNextPage() -> Self { wrapping(base.requestForNextPage()) }

    /// Returns this decorator around the base at the position of a checkpoint.
    public func resumed(from checkpoint: PageCheckpoint) -> Self { wrapping(base.resumed(from: checkpoint)) }

    private func wrapping(_ base: Base) -> Self {
        var copy = self
        copy.base = base
        return copy
    }
}

extension PageContinuation: Equatable where Next: Equatable {}

extension PageForwarding where Response == Base.Response {
    /// Returns the continuation of the base, with this decorator around the next page.
    public func requestForNextPage(after arrival: Page<Base.Response>) async throws -> PageContinuation<Self> {
        try await base.requestForNextPage(after: arrival).map { wrapping($0) }
    }
}
