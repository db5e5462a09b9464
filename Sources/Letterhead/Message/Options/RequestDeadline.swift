// SPDX-License-Identifier: MIT
import Synchronization

enum DeadlineOption: HTTPRequestOption {
    /// Not set: the default of the link ``Deadline`` applies. An option that is explicitly nil means no limit.
    static let defaultOptionValue: Duration? = nil
}

/// The point at which a load must have ended, on the timeline of the link that set it.
///
/// Whoever sets it ends it with the load. It then no longer applies to the requests that responses and errors contain, so
/// a caller who sends one of them again has the whole time.
final class DeadlinePoint: Sendable {
    let point: Duration
    let timeline: Timeline
    private let ended = Atomic(false)

    init(in limit: Duration, on timeline: Timeline) {
        point = timeline.now + min(limit, .seconds(Int64.max))
        self.timeline = timeline
    }

    /// Creates the point of one load of an operation that has a deadline.
    init(of operation: DeadlinePoint) { (point, timeline) = (operation.point, operation.timeline) }

    var hasEnded: Bool { ended.load(ordering: .relaxed) }

    func end() { ended.store(true, ordering: .relaxed) }

    /// The remaining time; zero or less after the deadline.
    var timeLeft: Duration { point - timeline.now }
}

extension RequestSettings {
    /// The limit of the total time of the request, beginning at the link ``Deadline``.
    ///
    /// Default: not set (the default of that link). Set it to nil for no deadline, even if the link has a default. A
    /// request that exceeds the limit fails with `.timedOut`; a limit of zero or less is `.invalidRequest`.
    public var deadline: Duration? {
        get { self[option: DeadlineOption.self] }
        set { self[option: DeadlineOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// The time until the deadline: zero or less if the deadline has passed, and nil if there is no deadline.
    ///
    /// Do not wait longer than this in your own link or transport: if a wait would be longer, fail at once with
    /// ``deadlinePassed(while:response:mayHaveBeenSent:)``.
    public var timeLeft: Duration? { liveDeadline?.timeLeft }

    /// Returns the error of a request whose deadline has passed, or would pass during a wait.
    ///
    /// - Parameters:
    ///   - phase: the current activity, such as "connecting".
    ///   - response: the part of the response that has arrived. Default: nil.
    ///   - mayHaveBeenSent: false if it is certain that no byte of the request was sent. Default: true.
    public func deadlinePassed(
        while phase: String, response: HTTPResponse? = nil, mayHaveBeenSent: Bool = true
    ) -> HTTPError {
        HTTPError(
            .timedOut, request: self, response: response, message: "the deadline passed while \(phase)",
            mayHaveBeenSent: mayHaveBeenSent)
    }

    var hasDeadline: Bool { liveDeadline != nil }

    /// The deadline, unless the load that it belonged to has ended.
    var liveDeadline: DeadlinePoint? { context.deadline.flatMap { $0.hasEnded ? nil : $0 } }

    /// The request without a deadline, for a shared load whose waiters have their own.
    var withoutDeadline: HTTPRequest {
        guard hasDeadline else { return self }
        var request = self
        request.inheritDeadline(from: nil)
        return request
    }

    /// Sets the point and returns it, unless an earlier one is set.
    mutating func limit(to limit: Duration, on timeline: Timeline) -> DeadlinePoint? {
        if let timeLeft, timeLeft <= limit { return nil }
        let point = DeadlinePoint(in: limit, on: timeline)
        context.deadline = point
        return point
    }

    /// Sets the deadline of this request to that of another request. Use it if this request is sent on behalf of the
    /// other one, for example to get a token.
    ///
    /// This method changes the point in time that determines ``timeLeft``. It does not change the setting
    /// ``RequestSettings/deadline``. The new point can be later than the previous one.
    ///
    /// - Parameter request: the request that waits for this one. If it is nil or has no deadline, the deadline of this
    ///   request is removed. Pass nil if several requests wait for this one.
    public mutating func inheritDeadline(from request: HTTPRequest?) {
        if context.deadline != nil || request?.context.deadline != nil { context.deadline = request?.context.deadline }
    }
}
