extension MockServer {
    /// A point in an exchange at which a fault may strike.
    public enum Moment: Sendable, Hashable, CaseIterable {
        /// The head of the request was read, nothing was done about it.
        case requestStart
        /// Half of the request's body was read; the first bytes, if its length is not known; its head, if there is
        /// none.
        case requestBody
        /// The answer is ready, none of it was sent.
        case responseStart
        /// Half of the answer's body was sent; the first chunk, if it is made of chunks; its head, if there is no body.
        case responseBody
        /// The last byte of the answer was sent.
        case responseEnd
    }

    /// What a fault does to the connection.
    public struct Effect: Sendable, Hashable {
        enum Kind: Hashable {
            case close
            case halfClose
            case reset
            case stall(Duration?)
            case slow(bytes: Int, every: Duration)
        }

        let kind: Kind

        /// Closes the connection, as a server does that crashed: FIN, and with TLS no word of goodbye.
        public static let close = Effect(kind: .close)
        /// Ends the server's side, with TLS after its goodbye, and goes on reading what the client sends, to no effect.
        public static let halfClose = Effect(kind: .halfClose)
        /// Resets the connection: RST.
        public static let reset = Effect(kind: .reset)
        /// Does nothing more: nothing is read, nothing is sent, until the client leaves or the server stops.
        public static let stall = Effect(kind: .stall(nil))
        /// Does nothing for a while, then goes on.
        public static func stall(for duration: Duration) -> Effect { Effect(kind: .stall(duration)) }
        /// From here on the connection moves at most so many bytes at a time, in and out together.
        ///
        /// - Parameters:
        ///   - bytes: how many bytes; less than 1 is taken for 1.
        ///   - interval: the time between one lot and the next.
        public static func slow(bytes: Int, every interval: Duration) -> Effect {
            Effect(kind: .slow(bytes: max(1, bytes), every: interval))
        }
    }

    /// An effect and the moment at which it strikes.
    struct Fault: Sendable, Hashable {
        let effect: Effect
        let moment: Moment
    }
}
