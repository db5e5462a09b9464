// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A template that requests one page of a sequence, and creates the template for the next page.
///
/// To iterate over pages, pass `template.paginated()` or `template.paginated(by:)` to `pages(of:)` or `items(of:)` of a
/// client. Implement the protocol only if a custom ``Pagination`` cannot describe the API. If the API numbers its
/// pages, a decorator declares only ``page`` and ``requestForNextPage()``:
///
/// ```swift
/// struct Numbered<Base: RequestTemplate>: RequestDecorator, PaginatedTemplate {
///     let base: Base
///     var page = 1
///     var parameters: RequestParameters {
///         var parameters = base.parameters
///         parameters.fill(from: ["page": page])
///         return parameters
///     }
///     func requestForNextPage() -> Self { Self(base: base, page: page + 1) }
/// }
/// ```
///
/// Laws:
///
/// - A template represents one page.
/// - ``requestForNextPage()`` returns a new template and does not change this one.
/// - Every decorator around a paginated template is a paginated template.
public protocol PaginatedTemplate: RequestTemplate {
    /// The page number. The first one is usually 1.
    var page: Int { get }

    /// The page position. Default: the page number.
    var position: PagePosition { get }

    /// Returns the template for the next page, without looking at the current response.
    ///
    /// If only that response can identify the next page, sending the returned template fails with `.invalidRequest`.
    /// Use ``requestForNextPage(after:)`` instead.
    func requestForNextPage() -> Self

    /// Returns the continuation after a page has arrived: whether the sequence continues, and with which template.
    /// Default: it continues with ``requestForNextPage()``, and ends at the first empty page.
    ///
    /// - Throws: an error if the page doesn't identify the next page, although it must. The default throws
    ///   `.invalidRequest` if the items on the page cannot be counted.
    func requestForNextPage(after arrival: Page<Response>) async throws -> PageContinuation<Self>

    /// Returns the template for the page at a checkpoint. Default: calls ``requestForNextPage()`` until it reaches the
    /// checkpoint, at most 100,000 times.
    ///
    /// If the returned template has a different page number than the checkpoint, the sequence fails with
    /// `.invalidRequest`.
    func resumed(from checkpoint: PageCheckpoint) -> Self
}

extension PaginatedTemplate {
    public var position: PagePosition { .number(page) }

    public func requestForNextPage(after arrival: Page<Response>) async throws -> PageContinuation<Self> {
        guard let count = arrival.itemCount else { throw arrival.uncounted }
        return count == 0 ? .ended : .next(requestForNextPage())
    }

    public func resumed(from checkpoint: PageCheckpoint) -> Self {
        guard case .number(let number) = checkpoint.position else { return self }
        var template = self
        for _ in 0..<100_000 where template.page < number { template = template.requestForNextPage() }
        return template
    }
}

/// A page of a sequence: its decoded value, its response and its number.
public struct Page<Value: Sendable>: Sendable {
    /// The value that the template decoded from the response.
    public let value: Value
    /// The number of items on the page. Nil if unknown.
    public let itemCount: Int?
    /// The response that the value was decoded from.
    public let response: HTTPResponse
    /// The page number. By default, the first page has the number 1.
    public let number: Int
    /// The checkpoint of the next page. Nil after the last page, and in a page passed to `requestForNextPage(after:)`.
    /// It isn't nil if only a limit of ``PageSettings`` ends the sequence.
    ///
    /// If the next page cannot be determined, for example because its link is invalid, a sequence that starts here
    /// fails with `.invalidRequest`.
    public let checkpoint: PageCheckpoint?

    /// The URL of the next page, if the response names one: for ``Pagination/linkHeader`` and
    /// ``Pagination/nextURL(_:hasMore:)``. Nil after the last page, and for all other paginations.
    public var nextURL: URL? {
        guard case .url(let text) = checkpoint?.position else { return nil }
        return URL(string: text, encodingInvalidCharacters: false)
    }

    /// Creates a page. If the value is a collection, `itemCount` defaults to its count.
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

extension Page {
    /// Returns an error for a page sequence, with this response.
    func error(_ code: HTTPError.Code, _ message: String) -> HTTPError {
        HTTPError(code, request: response.request, response: response, message: message)
    }

    var uncounted: HTTPError {
        error(
            .invalidRequest,
            "\(Value.self) is not a collection, so the last page cannot be detected without items(of:at:)")
    }
}

/// Whether and how the sequence continues after a page.
public enum PageContinuation<Next: Sendable>: Sendable {
    /// The page is empty, and the page before it was the last one. The empty page is not returned.
    case ended
    /// The page is returned, and it is the last one.
    case last
    /// The page is returned, and the next one has this template or position.
    case next(Next)

    /// Transforms the template or position for the next page.
    public func map<Other: Sendable>(_ transform: (Next) -> Other) -> PageContinuation<Other> {
        switch self {
        case .ended: .ended
        case .last: .last
        case .next(let next): .next(transform(next))
        }
    }
}

/// A decorator that is paginated if its base is, so that it applies to each page.
///
/// Add this line to your decorator. Its `base` must be a variable:
///
/// ```swift
/// extension Traced: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {}
/// ```
public protocol PaginatedDecorator: RequestDecorator, PaginatedTemplate where Base: PaginatedTemplate {
    /// The wrapped template. It is replaced for each page.
    var base: Base { get set }
}

extension PaginatedDecorator {
    public var page: Int { base.page }

    public var position: PagePosition { base.position }

    public func requestForNextPage() -> Self { wrapping(base.requestForNextPage()) }

    public func resumed(from checkpoint: PageCheckpoint) -> Self { wrapping(base.resumed(from: checkpoint)) }

    private func wrapping(_ base: Base) -> Self { changed(self) { $0.base = base } }
}

extension PageContinuation: Equatable where Next: Equatable {}

extension PaginatedDecorator where Response == Base.Response {
    public func requestForNextPage(after arrival: Page<Base.Response>) async throws -> PageContinuation<Self> {
        try await base.requestForNextPage(after: arrival).map { wrapping($0) }
    }
}
