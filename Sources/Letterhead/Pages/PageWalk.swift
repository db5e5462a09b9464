/// The limits and the pace of a page sequence.
public struct PageWalk: Sendable {
    /// The maximum number of pages. Default: nil (no limit).
    public var maximumPages: Int?
    /// The maximum number of items of an item sequence. Pages after the last item are not requested. Default: nil (no
    /// limit).
    public var maximumItems: Int?
    /// The wait before each page except the first. Default: zero.
    public var delay: Duration
    /// The limit of the total time of the iteration, from the first page on, including the time between calls. A page
    /// that does not arrive in time is `.timedOut`. Default: nil (no limit).
    public var deadline: Duration?
    /// Whether the next page is requested while the current one is read. If the iteration ends early, at most that page
    /// is wasted. Default: false.
    public var prefetches: Bool
    /// The maximum number of empty pages in a row. Further ones are `.paginationLoop`. Default: 100.
    public var maximumEmptyPages: Int
    /// The maximum number of pages before the iteration fails with `.paginationLoop`. Default: 100,000.
    public var pageLimit: Int
    /// The clock for the delay and the deadline. Default: the continuous clock.
    public var clock: any Clock<Duration>

    /// Creates the settings.
    ///
    /// A negative number, a negative delay, or a deadline of zero or less is `.invalidRequest` at the first page.
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
        if let maximumPages, maximumPages < 0 { return "maximumPages is negative; use 0 or more" }
        if let maximumItems, maximumItems < 0 { return "maximumItems is negative; use 0 or more" }
        if maximumEmptyPages < 0 { return "maximumEmptyPages is negative; use 0 or more" }
        if pageLimit < 0 { return "pageLimit is negative; use 0 or more" }
        if let deadline, deadline <= .zero { return "the deadline is zero or less; use nil for no limit" }
        return delay < .zero ? "the delay is negative; use zero or more" : nil
    }
}
