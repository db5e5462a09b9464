/// A description of how an API paginates: the parameters that contain the position of a page, and how the position of
/// the next page is found in a page.
///
/// Use one of the static members: ``page(start:step:parameter:size:totalPagesHeader:)``,
/// ``offset(limit:start:parameter:limitParameter:)``, ``cursor(_:parameter:)``, ``lastItem(of:_:parameter:)``,
/// ``linkHeader``, ``nextURL(_:)``, ``header(_:parameter:)``. For other APIs, create a pagination from two closures:
///
/// ```swift
/// let byWeek = Pagination<Report>(parameters: { position in
///     if case .cursor(let week) = position { [("week", week)] } else { [] }
/// }, next: { _, page in page.value.previousWeek.map { .next(.cursor(.string($0))) } ?? .last })
/// ```
///
/// Laws:
///
/// - For the same position, `parameters` always returns the same parameters.
/// - For the same page, `next` always returns the same continuation.
public struct Pagination<Value: Sendable>: Sendable {
    /// The parameters for a page, each with its value. The value null removes a query parameter.
    public typealias Parameters = [(parameter: PageParameter, value: JSONValue)]

    let firstPage: Int
    let start: PagePosition
    let isPinned: @Sendable (PagePlace) -> Bool
    let blindly: @Sendable (PagePosition) -> PagePosition?
    let write: @Sendable (PagePosition, inout PagePlace) -> Void
    let next: @Sendable (PagePosition, Page<Value>) throws -> PageContinuation<PagePosition>
    /// Returns whether a position belongs to this pagination. A checkpoint may come from another one.
    let isOwn: @Sendable (PagePosition) -> Bool

    /// Creates a custom pagination.
    ///
    /// - Parameters:
    ///   - start: the position of the first page. Default: ``PagePosition/first``.
    ///   - parameters: returns the parameters for a position.
    ///   - next: returns the continuation after a page, from the position of the page and the page.
    public init(
        start: PagePosition = .first, parameters: @escaping @Sendable (PagePosition) -> Parameters,
        next: @escaping @Sendable (PagePosition, Page<Value>) throws -> PageContinuation<PagePosition>
    ) {
        self.init(
            firstPage: 1, start: start, isPinned: { _ in false }, blindly: { _ in nil },
            write: { position, place in
                for (parameter, value) in parameters(position) { place.write(value, at: parameter) }
            }, next: next)
    }

    init(
        firstPage: Int, start: PagePosition, isOwn: @escaping @Sendable (PagePosition) -> Bool = { _ in true },
        isPinned: @escaping @Sendable (PagePlace) -> Bool,
        blindly: @escaping @Sendable (PagePosition) -> PagePosition?,
        write: @escaping @Sendable (PagePosition, inout PagePlace) -> Void,
        next: @escaping @Sendable (PagePosition, Page<Value>) throws -> PageContinuation<PagePosition>
    ) {
        (self.firstPage, self.start, self.isOwn, self.isPinned) = (firstPage, start, isOwn, isPinned)
        (self.blindly, self.write, self.next) = (blindly, write, next)
    }
}
