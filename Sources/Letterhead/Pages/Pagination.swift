/// How an API pages: where the position of a page is written, and what a page says of the next one.
///
/// Use one of the statics: ``page(start:step:parameter:size:totalPagesHeader:)``,
/// ``offset(limit:start:parameter:limitParameter:)``, ``cursor(_:parameter:)``, ``lastItem(of:_:parameter:)``,
/// ``linkHeader``, ``nextURL(_:)``, ``header(_:parameter:)``. Write one in three lines:
///
/// ```swift
/// let byWeek = Pagination<Report>(parameters: { position in
///     if case .cursor(let week) = position { [("week", week)] } else { [] }
/// }, next: { _, page in page.value.previousWeek.map { .next(.cursor(.string($0))) } ?? .last })
/// ```
///
/// Laws: the same page gives the same position, and a position is written the same way each time.
public struct Pagination<Value: Sendable>: Sendable {
    /// A page's parameters, each with its value; null removes a query parameter.
    public typealias Parameters = [(parameter: PageParameter, value: JSONValue)]

    let firstPage: Int
    let start: PagePosition
    let isPinned: @Sendable (PagePlace) -> Bool
    let blindly: @Sendable (PagePosition) -> PagePosition?
    let write: @Sendable (PagePosition, inout PagePlace) -> Void
    let next: @Sendable (PagePosition, Page<Value>) throws -> PageContinuation<PagePosition>
    /// Whether a position can be one of this; a checkpoint may come from another walk.
    let isOwn: @Sendable (PagePosition) -> Bool

    /// Creates a custom pagination.
    ///
    /// - Parameters:
    ///   - start: the position of the first page. Default: the template as it is.
    ///   - parameters: returns the parameters that a position is sent as.
    ///   - next: finds what follows a page.
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
