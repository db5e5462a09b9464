extension MockServer {
    /// A point in an exchange at which a fault can occur.
    public enum Moment: Sendable, Hashable, CaseIterable {
        /// The head of the request has been read, and neither its body nor the response has been processed.
        case requestStart
        /// Half of the request body has been read. If the length of the body is not known, its first bytes have been
        /// read. Without a body, the head has been read.
        case requestBody
        /// The response is ready, and nothing of it has been sent.
        case responseStart
        /// Half of the response body has been sent. If the body is sent in chunks, the first chunk has been sent.
        /// Without a body, the head has been sent.
        case responseBody
        /// The last byte of the response has been sent.
        case responseEnd
    }

    /// The effect of a fault on the connection.
    public struct Effect: Sendable, Hashable {
        enum Kind: Hashable {
            case close
            case halfClose
            case reset
            case stall(Duration?)
            case slow(bytes: Int, every: Duration)
        }

        let kind: Kind

        /// Closes the connection like a server that crashes: with FIN and, if TLS is used, without a close_notify.
        public static let close = Effect(kind: .close)
        /// Closes the sending side of the connection, after a close_notify if TLS is used. Further input is read and
        /// discarded.
        public static let halfClose = Effect(kind: .halfClose)
        /// Resets the connection: RST.
        public static let reset = Effect(kind: .reset)
        /// Stops reading and sending until the client closes the connection or the server is stopped.
        public static let stall = Effect(kind: .stall(nil))
        /// Stops reading and sending for a duration.
        public static func stall(for duration: Duration) -> Effect { Effect(kind: .stall(duration)) }
        /// Limits the speed of the connection from this moment, for input and output together.
        ///
        /// - Parameters:
        ///   - bytes: the number of bytes for each interval. Values below 1 are treated as 1.
        ///   - interval: the length of an interval.
        public static func slow(bytes: Int, every interval: Duration) -> Effect {
            Effect(kind: .slow(bytes: max(1, bytes), every: interval))
        }
    }

    /// An effect and the moment at which it occurs.
    struct Fault: Sendable, Hashable {
        let effect: Effect
        let moment: Moment
    }
}
