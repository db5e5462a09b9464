// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

/// Determines whether and how a stream of events or values reconnects after its connection has ended. Use
/// ``whenClosed`` to follow a stream for longer than one connection lasts.
///
/// ```swift
/// client.events(of: News(), reconnecting: .whenClosed)
/// client.events(of: News(), reconnecting: .whenClosed(Backoff(maximumRetries: 10), deadline: .seconds(3_600)))
/// ```
///
/// A stream reconnects in three cases: its connection ends or is lost, the request exceeds a limit such as
/// `idleTimeout`, or a new connection fails for a temporary reason (`HTTPError.isTemporary`). If the first connection
/// cannot be opened, the error is thrown. To retry that request, use `RequestConfigurable.retry(_:maximumRetries:)`. A
/// 204 and any other error end the stream. A reconnection sends the last identifier in `Last-Event-ID`.
///
/// If the server has set a reconnection time (`retry`), the first attempt after an event waits for this time, and each
/// further attempt also for the strategy's next wait. Otherwise, each attempt waits for the strategy's next wait. If a
/// response that refuses the connection has a longer `Retry-After`, the attempt waits for that time, up to
/// `Backoff.longestServerDelay`.
///
/// A request with a method that isn't idempotent is sent again only if it is marked
/// `RequestTemplate.idempotent(key:)` or `allowsAnyMethod` is set. A request with a one-shot body is never sent
/// again. If the request cannot be sent again, the stream ends with its first connection.
public struct Reconnection: Sendable {
    let isEnabled: Bool
    /// The waits between attempts, and the maximum number of consecutive attempts without a delivered event or value.
    /// Default: `HTTPRetryStrategy.exponential` without a limit.
    public var backoff: Backoff
    /// How long the stream may reconnect, counted from the first request. A reconnection that would begin later is
    /// `.timedOut`. An open connection isn't ended. Default: nil (no limit).
    public var deadline: Duration?
    /// Whether a request with a method that isn't idempotent is sent again. Default: false.
    public var allowsAnyMethod: Bool

    /// The stream ends with its first connection.
    public static let never = Reconnection(isEnabled: false)

    /// The stream reconnects with the defaults of ``whenClosed(_:deadline:allowsAnyMethod:)``.
    public static let whenClosed = Reconnection(isEnabled: true)

    /// The stream reconnects. See the properties for the defaults.
    ///
    /// A negative number, a deadline of zero or less, and a strategy that sends another request or runs a task are
    /// `.invalidRequest`.
    public static func whenClosed(
        _ backoff: Backoff = Backoff(), deadline: Duration? = nil, allowsAnyMethod: Bool = false
    ) -> Reconnection {
        Reconnection(isEnabled: true, backoff: backoff, deadline: deadline, allowsAnyMethod: allowsAnyMethod)
    }

    private init(
        isEnabled: Bool, backoff: Backoff = Backoff(), deadline: Duration? = nil, allowsAnyMethod: Bool = false
    ) {
        (self.isEnabled, self.backoff) = (isEnabled, backoff)
        (self.deadline, self.allowsAnyMethod) = (deadline, allowsAnyMethod)
    }

    /// Nil if the settings are valid.
    var brokenRule: String? {
        if let deadline, deadline <= .zero {
            return "the deadline of Reconnection is zero or less (use nil for no limit)"
        }
        return backoff.brokenRule
    }

    /// Whether a request may be sent again for another connection.
    func allowsRepeating(_ request: HTTPRequest) -> Bool {
        guard request.body.isReplayable else { return false }
        return request.isIdempotent || allowsAnyMethod
    }
}
