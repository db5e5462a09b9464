/// How far and how fast a walk over pages goes.
public struct PageWalk: Sendable {
    /// The walk ends behind so many pages. Default: nil, it ends where the pages do.
    public var maximumPages: Int?
    /// The walk over items ends behind so many; a page that none of them is on is not asked for. Default: nil.
    public var maximumItems: Int?
    /// How long to wait before each page but the first. Default: no time.
    public var delay: Duration
    /// How long the whole walk may take, from the first page on, with all that its reader does in between. Default: nil, as
    /// long as it does. A page that cannot be had in time is `.timedOut`.
    public var deadline: Duration?
    /// Whether the next page is asked for while this one is read; breaking off then wastes at most that one. Default: no.
    public var prefetches: Bool
    /// How many pages in a row may be without items, before the walk fails. Default: 100.
    public var maximumEmptyPages: Int
    /// How many pages there may be at all, before the walk fails. Default: 100,000.
    public var pageLimit: Int
    /// What the delay and the deadline are measured with. Default: the continuous clock.
    public var clock: any Clock<Duration>

    /// Makes the settings of a walk.
    ///
    /// A negative number, a delay below zero, or a deadline that is not above it, is `.invalidRequest` at the first page.
    public init(
        maximumPages: Int? = nil, maximumItems: Int? = nil, delay: Duration = .zero, deadline: Duration? = nil,
        prefetches: Bool = false, maximumEmptyPages: Int = 100, pageLimit: Int = 100_000,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.maximumPages, self.maximumItems, self.delay) = (maximumPages, maximumItems, delay)
        self.deadline = deadline
        (self.prefetches, self.maximumEmptyPages, self.pageLimit) = (prefetches, maximumEmptyPages, pageLimit)
        self.clock = clock
    }

    var brokenRule: String? {
        if let maximumPages, maximumPages < 0 { return "maximumPages is negative" }
        if let maximumItems, maximumItems < 0 { return "maximumItems is negative" }
        if maximumEmptyPages < 0 { return "maximumEmptyPages is negative" }
        if pageLimit < 0 { return "pageLimit is negative" }
        if let deadline, deadline <= .zero { return "the deadline is zero or less; nil is no limit" }
        return delay < .zero ? "the delay is negative" : nil
    }
}
