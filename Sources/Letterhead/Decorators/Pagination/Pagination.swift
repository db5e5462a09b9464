/// How an API pages: where the position of a page is written, and what a page says of the next one.
///
/// Use one of the statics: ``page(start:step:parameter:size:totalPagesHeader:)``,
/// ``offset(limit:start:parameter:limitParameter:)``, ``cursor(_:parameter:)``, ``lastItem(of:_:parameter:)``,
/// ``linkHeader``, ``nextURL(_:)``, ``header(_:parameter:)``. Write one in three lines:
///
/// ```swift
/// let byWeek = Pagination<Report>(write: { position, place in
///     if case .cursor(let week) = position { place.write(week, at: "week") }
/// }, next: { _, page in page.value.previousWeek.map { .next(.cursor(.string($0))) } ?? .last })
/// ```
///
/// Laws: the same page gives the same position, and a position is written the same way each time.
public struct Pagination<Value: Sendable>: Sendable {
    /// What follows a page.
    public enum Step: Sendable, Hashable {
        /// The page held nothing, and the walk ended before it; it is not delivered.
        case ended
        /// The page is the last.
        case last
        /// The next page is there.
        case next(PagePosition)
    }

    let firstPage: Int
    let start: PagePosition
    let isPinned: @Sendable (PagePlace) -> Bool
    let blindly: @Sendable (PagePosition) -> PagePosition?
    let write: @Sendable (PagePosition, inout PagePlace) -> Void
    let next: @Sendable (PagePosition, PageArrival<Value>) throws -> Step
    /// Whether a position can be one of this; a checkpoint may come from another walk.
    let isOwn: @Sendable (PagePosition) -> Bool

    /// A way of one's own.
    ///
    /// - Parameters:
    ///   - start: the position of the first page. Default: the template as it is.
    ///   - write: writes a position into the query or the parameters.
    ///   - next: finds what follows a page.
    public init(
        start: PagePosition = .first, write: @escaping @Sendable (PagePosition, inout PagePlace) -> Void,
        next: @escaping @Sendable (PagePosition, PageArrival<Value>) throws -> Step
    ) {
        self.init(firstPage: 1, start: start, isPinned: { _ in false }, blindly: { _ in nil }, write: write, next: next)
    }

    init(
        firstPage: Int, start: PagePosition, isOwn: @escaping @Sendable (PagePosition) -> Bool = { _ in true },
        isPinned: @escaping @Sendable (PagePlace) -> Bool,
        blindly: @escaping @Sendable (PagePosition) -> PagePosition?,
        write: @escaping @Sendable (PagePosition, inout PagePlace) -> Void,
        next: @escaping @Sendable (PagePosition, PageArrival<Value>) throws -> Step
    ) {
        (self.firstPage, self.start, self.isOwn, self.isPinned) = (firstPage, start, isOwn, isPinned)
        (self.blindly, self.write, self.next) = (blindly, write, next)
    }
}
