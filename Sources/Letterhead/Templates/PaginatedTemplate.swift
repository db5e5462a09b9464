/// A template that asks for one page of several, and can make the template of the next.
///
/// Use: `template.paginated()` or `.paginated(by:)`, and a client's `pages(of:)` or `items(of:)`. Write one only when a
/// ``Pagination`` of your own cannot say how your API pages. Laws: a template knows one page, and asking for the next makes
/// a new value; whatever is wrapped around it, it stays paginated.
public protocol PaginatedTemplate: RequestTemplate {
    /// The number of the page that it asks for.
    var page: Int { get }

    /// Where in the walk that page is.
    var position: PagePosition { get }

    /// The template of the next page, when nothing of this one must be known for it.
    ///
    /// Where the answer of this page names the next one, sending it is `.invalidRequest`: use
    /// ``requestForNextPage(after:)``.
    func requestForNextPage() -> Self

    /// What follows a page that arrived.
    ///
    /// - Throws: when what arrived does not tell where the next page is, though it must.
    func requestForNextPage(after arrival: Page<Response>) async throws -> PageContinuation<Self>

    /// The template at another place of the same walk.
    func resumed(from checkpoint: PageCheckpoint) -> Self
}

/// One page of a sequence.
public struct Page<Value: Sendable>: Sendable {
    /// What the page holds.
    public let value: Value
    /// How many items it holds; nil when that is unknown.
    public let itemCount: Int?
    /// The response that it came with.
    public let response: HTTPResponse
    /// Its number, 1 for the first.
    public let number: Int
    /// Where the page after it begins. It is nil for the last page, and while a template is asked for the next page.
    ///
    /// When the link to the next page is faulty, the checkpoint leads nowhere: a sequence from there is `.invalidRequest`.
    public let checkpoint: PageCheckpoint?

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - value: what the page holds.
    ///   - itemCount: how many items; nil counts a collection, and leaves anything else uncounted. Default: nil.
    ///   - response: the response that it came with.
    ///   - number: its number. Default: 1.
    ///   - checkpoint: where the page after it begins. Default: nil.
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
    /// The page held nothing, and the walk ended before it; it is not delivered.
    case ended
    /// The page is the last.
    case last
    /// The page is delivered, and this leads to the one after it: its template, or its position.
    case next(Next)

    /// The same continuation with another value for the next page.
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
/// Write it for a decorator of your own, whose `base` must be a variable:
///
/// ```swift
/// extension Traced: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}
/// ```
public protocol PageForwarding: RequestDecorator, PaginatedTemplate where Base: PaginatedTemplate {
    /// What is wrapped; replaced by its next page.
    var base: Base { get set }
}

extension PageForwarding {
    /// The base's.
    public var page: Int { base.page }

    /// The base's.
    public var position: PagePosition { base.position }

    /// The same decorator around the base's next page.
    public func requestForNextPage() -> Self { wrapping(base.requestForNextPage()) }

    /// The same decorator around the base at another place.
    public func resumed(from checkpoint: PageCheckpoint) -> Self { wrapping(base.resumed(from: checkpoint)) }

    private func wrapping(_ base: Base) -> Self {
        var copy = self
        copy.base = base
        return copy
    }
}

extension PageContinuation: Equatable where Next: Equatable {}

extension PageForwarding where Response == Base.Response {
    /// What the base says, with this decorator around the next page.
    public func requestForNextPage(after arrival: Page<Base.Response>) async throws -> PageContinuation<Self> {
        try await base.requestForNextPage(after: arrival).map { wrapping($0) }
    }
}
