// SPDX-License-Identifier: MIT
public import Letterhead

extension Hedge {
    /// How long a request has to wait for its response before a hedge is sent.
    public struct Delay: Sendable, CustomStringConvertible {
        let share: Double?
        let duration: Duration

        /// The same time for all requests.
        public static func fixed(_ duration: Duration) -> Delay { Delay(share: nil, duration: max(.zero, duration)) }

        /// The time in which this share of the last 128 requests with the same route had their responses, such as 0.95, and
        /// at least a duration. Until 32 responses of a route are known, its requests are not hedged.
        public static func quantile(_ share: Double, atLeast duration: Duration = .milliseconds(1)) -> Delay {
            Delay(share: share.isNaN ? 0.95 : min(max(share, 0), 1), duration: max(.zero, duration))
        }

        public var description: String { share.map { "quantile \($0), at least \(duration)" } ?? "\(duration)" }
    }

    /// Whether a request may be hedged.
    public enum Setting: Sendable, Hashable {
        /// If it fulfills the conditions of ``Hedge``.
        case standard
        case never
    }
}

enum HedgingOption: HTTPRequestOption {
    static let defaultOptionValue = Hedge.Setting.standard
}

extension RequestSettings {
    /// Default: ``Hedge/Setting/standard``.
    public var hedging: Hedge.Setting {
        get { self[option: HedgingOption.self] }
        set { self[option: HedgingOption.self] = newValue }
    }
}

extension RequestTemplate {
    /// Sets whether ``Hedge`` may send the request a second time before its response has arrived: `.hedging(.never)`.
    public func hedging(_ setting: Hedge.Setting) -> Modified<Self> { option(HedgingOption.self, setting) }
}

extension HTTPEvent.Name {
    /// A hedge is sent, with its number as the fact `count`, and the time since the request as `wait`.
    public static let hedgeSent: Self = "hedge.sent"
    /// The response of a hedge is the first good one, with its number as the fact `count`.
    public static let hedgeWon: Self = "hedge.won"
}
