// SPDX-License-Identifier: MIT
import Synchronization

enum DeadlineOption: HTTPRequestOption {
    /// If a request doesn't set the option, the default of the link ``Deadline`` applies. An explicit nil means no
    /// limit.
    static let defaultOptionValue: Duration? = nil
}

/// The time at which a load must have ended, on the timeline of the link that sets the deadline.
///
/// `HTTPRequest.load(within:on:_:)` begins and ends the deadline of a request. The deadline of a series never ends. It
/// only limits the deadlines of the requests.
///
/// The deadline ends with the load, or with the streamed body. It then no longer applies to the requests in responses
/// and errors, so a caller who sends one of them again has the whole time.
final class DeadlinePoint: Sendable {
    let point: Duration
    let timeline: Timeline
    private let ended = Atomic(false)

    init(in limit: Duration, on timeline: Timeline) {
        point = timeline.now + min(limit, .seconds(Int64.max))
        self.timeline = timeline
    }

    var hasEnded: Bool { ended.load(ordering: .relaxed) }

    func end() { ended.store(true, ordering: .relaxed) }

    /// The remaining time, or zero or less after the deadline.
    var timeLeft: Duration { point - timeline.now }
}

extension RequestSettings {
    /// The total time that the request may take, with all attempts, waits and the reading of a streamed body. It begins
    /// at the link ``Deadline``.
    ///
    /// Default: not set (the default of that link). Set it to nil for no deadline, even if the link has a default. A
    /// request that exceeds the limit fails with `.timedOut`. A limit of zero or less is `.invalidRequest`.
    public var deadline: Duration? {
        get { self[option: DeadlineOption.self] }
        set { self[option: DeadlineOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// The time until the deadline. It is zero or less if the deadline has passed, and nil without a deadline.
    ///
    /// Don't wait longer than this in your own link or transport. If you would have to, fail at once with
    /// ``deadlinePassed(while:response:mayHaveBeenSent:)``.
    public var timeLeft: Duration? { liveDeadline?.timeLeft }

    /// Returns whether a wait ends before the deadline. It returns true if the request has no deadline.
    public func hasTime(for wait: Duration) -> Bool { timeLeft.map { wait < $0 } ?? true }

    /// Returns the error for a deadline that has passed, or would pass during a wait.
    ///
    /// - Parameters:
    ///   - phase: the current activity, such as "connecting".
    ///   - response: the response, or the part of it that has arrived. Default: nil (none has).
    ///   - mayHaveBeenSent: false if it is certain that nothing was sent. Default: true.
    public func deadlinePassed(
        while phase: String, response: HTTPResponse? = nil, mayHaveBeenSent: Bool = true
    ) -> HTTPError {
        HTTPError(
            .timedOut, request: self, response: response, message: "the deadline passed while \(phase)",
            mayHaveBeenSent: mayHaveBeenSent)
    }

    var hasDeadline: Bool { liveDeadline != nil }

    /// The deadline, unless its load has ended.
    var liveDeadline: DeadlinePoint? { context.deadline.flatMap { $0.hasEnded ? nil : $0 } }

    /// A copy without a deadline, for a shared load with waiters that have their own.
    var withoutDeadline: HTTPRequest {
        hasDeadline ? changed(self) { $0.inheritDeadline(from: nil) } : self
    }

    /// Loads the request within a limit, unless its deadline is earlier. All deadlines of requests begin and end here.
    /// The callers are the link ``Deadline``, `Load` for the requests of a series, and ``HTTPRetryStrategy`` for an
    /// alternate.
    ///
    /// - Parameters:
    ///   - limit: the time for the load and for reading its body. Nil means no limit.
    ///   - load: loads the limited request.
    @inline(__always)
    func load(
        within limit: Duration?, on timeline: Timeline, _ load: (HTTPRequest) async throws(HTTPError) -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        var (limited, point) = (self, nil as DeadlinePoint?)
        if let limit, timeLeft.map({ $0 > limit }) ?? true {
            point = DeadlinePoint(in: limit, on: timeline)
            limited.context.deadline = point
        }
        do throws(HTTPError) {
            var response = try await load(limited)
            if limit != nil { response = response.within(limited) }
            if let point { response.body.onEnd { _ in point.end() } }
            return response
        } catch {
            point?.end()
            throw error
        }
    }

    /// Gives this request the deadline of the request that it is sent for. For example, a token request has the
    /// deadline that applies to the request that needs the token.
    ///
    /// It changes the time that ``timeLeft`` counts to, not the setting ``RequestSettings/deadline``. The new deadline
    /// can be later than the previous one.
    ///
    /// - Parameter request: the request that waits for this one. If it is nil or has no deadline, this request has no
    ///   deadline afterwards. Pass nil if several requests wait for this one.
    public mutating func inheritDeadline(from request: HTTPRequest?) {
        if context.deadline != nil || request?.context.deadline != nil { context.deadline = request?.context.deadline }
    }
}

extension HTTPResponse {
    /// Checks the deadline while a streamed body is read.
    fileprivate func within(_ request: HTTPRequest) -> HTTPResponse {
        guard body.buffered == nil else { return self }
        var response = self
        let check = { @Sendable () throws in
            if let left = request.timeLeft, left <= .zero { throw request.deadlinePassed(while: "reading the body") }
        }
        response.body = body.map(length: body.length, before: check) { piece in
            try check()
            return piece
        }
        return response
    }
}
