// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

/// Determines whether and how a stream of events or values reconnects after its connection has ended.
///
/// ```swift
/// client.events(of: News(), reconnecting: .whenClosed)
/// client.events(of: News(), reconnecting: .whenClosed(Backoff(maximumRetries: 10), deadline: .seconds(3_600)))
/// ```
///
/// Use ``whenClosed`` to follow a stream for longer than one connection lasts. A reconnection sends the last identifier
/// in `Last-Event-ID`.
///
/// ## When a stream reconnects
///
/// - Its connection ends or is lost.
/// - The request exceeds a limit such as `idleTimeout`.
/// - A new connection fails for a temporary reason (`HTTPError.isTemporary`).
///
/// A 204 and any other error end the stream. If the first connection can't be opened, the error is thrown. To retry
/// that request, use `RequestConfigurable.retry(_:maximumRetries:)`.
///
/// A request with a method that isn't idempotent is sent again only if it is marked with
/// `RequestTemplate.idempotent(key:)` or if ``allowsAnyMethod`` is set. A request with a one-shot body is never sent
/// again. If the request can't be sent again, the stream ends with its first connection.
///
/// ## How long an attempt waits
///
/// - If the server hasn't set a reconnection time (`retry`), each attempt waits as the strategy determines.
/// - If it has, the first attempt after an event waits for the reconnection time. Each further attempt waits for the
///   reconnection time plus the wait that the strategy determines.
/// - If a server refuses the connection with a longer `Retry-After`, the attempt waits for that time, up to
///   `Backoff.longestServerDelay`.
public struct Reconnection: Sendable {
    let isEnabled: Bool
    /// The waits between attempts, and the maximum number of consecutive attempts without a delivered event or value.
    /// Default: `HTTPRetryStrategy.exponential` without a limit.
    public var backoff: Backoff
    /// How long the stream may reconnect, counted from the first request. A reconnection that would begin later throws
    /// `.timedOut`. The deadline doesn't end an open connection. Default: nil (no limit).
    public var deadline: Duration?
    /// Whether a request with a method that isn't idempotent is sent again. Set it if the server doesn't act on the
    /// request twice. Default: false.
    public var allowsAnyMethod: Bool

    /// The stream ends with its first connection.
    public static let never = Reconnection(isEnabled: false)

    /// The stream reconnects with the defaults of ``whenClosed(_:deadline:allowsAnyMethod:)``.
    public static let whenClosed = Reconnection(isEnabled: true)

    /// The stream reconnects with these settings, which the properties describe.
    ///
    /// If a number is negative, if the deadline is zero or less, or if the strategy sends a different request or runs a
    /// task, the stream throws `.invalidRequest`.
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

    /// Describes the invalid setting, or nil if all settings are valid.
    var brokenRule: String? {
        if let deadline, deadline <= .zero {
            return "the deadline of Reconnection is zero or less (use nil for no limit)"
        }
        return backoff.brokenRule
    }

    /// Returns whether a request may be sent again for a new connection.
    func allowsRepeating(_ request: HTTPRequest) -> Bool {
        guard request.body.isReplayable else { return false }
        return request.isIdempotent || allowsAnyMethod
    }
}
