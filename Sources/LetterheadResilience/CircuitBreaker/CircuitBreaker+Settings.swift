// SPDX-License-Identifier: MIT
public import Letterhead

extension CircuitBreaker {
    /// Determines when a circuit opens.
    public struct Rule: Sendable {
        enum Kind {
            case consecutive(Int)
            case ratio(Double, minimum: Int, window: Duration)
        }

        let kind: Kind

        /// Opens a circuit after this number of failures without a success between them. A number below 1 counts as 1.
        public static func consecutiveFailures(_ count: Int) -> Rule { Rule(kind: .consecutive(max(1, count))) }

        /// Opens a circuit when at least this share of all requests in the last period has failed.
        ///
        /// A circuit stays closed until the period contains at least `minimum` requests. So a single failure at night
        /// doesn't open it. A period of zero or less, and a share that is NaN, count as the defaults.
        public static func failureRatio(
            _ share: Double = 0.5, minimum: Int = 20, within period: Duration = .seconds(10)
        ) -> Rule {
            let share = share.isNaN ? 0.5 : min(max(share, 0), 1)
            return Rule(
                kind: .ratio(share, minimum: max(1, minimum), window: period > .zero ? period : .seconds(10)))
        }
    }

    /// Determines which requests share a circuit.
    public struct Scope: Sendable {
        let key: @Sendable (HTTPRequest) -> RouteKey

        /// Requests to the same scheme, host and port share a circuit, as for `Throttle`.
        public static let host = Scope { RouteKey(origin: $0.origin) }

        /// Requests with the same method and route to the same origin share a circuit (see `RequestPath.route`).
        /// Requests without a known route share a circuit for each method.
        public static let route = Scope { RouteKey.route(of: $0) }

        /// Requests with the same key share a circuit. Use few different keys: at most 1,000 circuits are kept.
        public static func key(_ key: @escaping @Sendable (HTTPRequest) -> String) -> Scope {
            Scope { RouteKey(name: key($0)) }
        }
    }

    /// Tells whether requests pass a circuit.
    public enum State: String, Sendable, Hashable {
        /// All requests pass.
        case closed
        /// No request passes.
        case open
        /// A few requests pass, to find out whether the server has recovered.
        case halfOpen
        /// No request passes until ``CircuitBreaker/close()``.
        case isolated
    }

    /// A change that ``CircuitBreaker/changes()`` reports. If ``circuit`` is nil, all circuits have changed.
    public struct Change: Sendable, Hashable, CustomStringConvertible {
        /// The circuit name, such as `GET https://api.example.com users/{}`. Nil if ``CircuitBreaker/isolate()`` was
        /// called or ended, which affects all circuits.
        public let circuit: String?
        /// The state after the change.
        public let state: State

        /// The circuit and its state: `https://api.example.com: open`.
        public var description: String { "\(circuit ?? "all circuits"): \(state.rawValue)" }
    }
}

extension HTTPError.Code {
    /// A ``CircuitBreaker`` has not sent the request, because too many requests to its server have failed.
    public static let circuitOpen = Self(rawValue: "circuitOpen")
}

extension HTTPEvent.Name {
    /// A circuit has changed its state because of a request. The event has the facts `circuit` and `state`.
    public static let circuitChanged: Self = "circuit.changed"
}

extension HTTPEvent.Fact where Value == String {
    /// The name of the circuit that has changed.
    public static var circuit: Self { Self("circuit") }
    /// The new state of the circuit, such as `open`.
    public static var state: Self { Self("state") }
}
