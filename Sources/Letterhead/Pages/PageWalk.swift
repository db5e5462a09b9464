/// The limits and the delays of an iteration over pages.
public struct PageWalk: Sendable {
    /// The number of pages after which the sequence ends without an error. Default: nil (no limit other than
    /// ``pageLimit``).
    public var maximumPages: Int?
    /// The number of items after which a sequence of items ends without an error. Further pages are not requested,
    /// except a page that ``prefetches`` has requested already. Default: nil (no limit).
    public var maximumItems: Int?
    /// The delay before the request for each page except the first. Default: zero.
    public var delay: Duration
    /// The time limit of the whole iteration. It begins with the first call of the iterator and includes the time
    /// between calls. A page that does not arrive in time is `.timedOut`. Default: nil (no limit).
    public var deadline: Duration?
    /// Whether the next page is requested while the current page is processed. If the iteration ends early, one page
    /// may have been requested unnecessarily. Default: false.
    public var prefetches: Bool
    /// The maximum number of consecutive empty pages. If there are more, the error is `.paginationLoop`. Default: 100.
    public var maximumEmptyPages: Int
    /// The number of pages after which the iteration fails with `.paginationLoop` if another page follows. Default:
    /// 100,000.
    public var pageLimit: Int
    /// The clock for the delay and the deadline. Default: the continuous clock.
    public var clock: any Clock<Duration>

    /// Creates the settings.
    ///
    /// If a number or the delay is negative, or if the deadline is zero or less, the first call of an iterator throws
    /// `.invalidRequest`, and nothing is sent.
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
