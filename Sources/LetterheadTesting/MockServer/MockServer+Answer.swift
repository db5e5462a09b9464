// SPDX-License-Identifier: MIT
public import LetterheadFoundation

extension MockServer {
    /// A response that is queued for a request, with or without faults.
    ///
    /// ```swift
    /// server.enqueue(
    ///     .response(.init(status: 503)),                                       // each entry is used for one request
    ///     .response(.text("late")).fault(.stall(for: .seconds(1)), at: .responseStart),
    ///     .closure.fault(.reset, at: .requestBody),                            // the closure's response, with a fault
    ///     .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut"))              // exactly these bytes, then the end
    /// server.enqueue(.response(.text("b")).when { $0.path == "/b" })
    /// ```
    ///
    /// The server responds with the first entry of the queue that matches the request. If no entry matches, the closure
    /// responds.
    public struct Answer: Sendable {
        enum Content: Sendable {
            case closure
            case response(Response)
            case raw(Data)
        }

        let content: Content
        var faults: [Fault] = []
        var isEarly = false
        /// The condition on the request, or nil for any request.
        var fits: (@Sendable (Request) -> Bool)?

        /// The response of the server's closure. Use it to add a fault to the response that the closure returns.
        public static let closure = Answer(content: .closure)

        /// A response.
        public static func response(_ response: Response) -> Answer { Answer(content: .response(response)) }

        /// Sends bytes unchanged. They need not be valid HTTP.
        ///
        /// - Parameters:
        ///   - bytes: the bytes. A fault at ``Moment/responseBody`` occurs after half of them.
        ///   - effect: the effect after the last byte, or nil to keep the connection open for the next request.
        ///     Default: ``Effect/halfClose``.
        public static func raw(_ bytes: Data, then effect: Effect? = .halfClose) -> Answer {
            let answer = Answer(content: .raw(bytes))
            return effect.map { answer.fault($0, at: .responseEnd) } ?? answer
        }

        /// Sends the UTF-8 bytes of a string unchanged. See the overload that takes `Data`.
        public static func raw(_ text: String, then effect: Effect? = .halfClose) -> Answer {
            raw(Data(text.utf8), then: effect)
        }

        /// Returns the same answer with a fault. Several faults at one moment occur in the order of the calls.
        public func fault(_ effect: Effect, at moment: Moment) -> Answer {
            with { $0.faults.append(Fault(effect: effect, moment: moment)) }
        }

        /// Returns the same answer, to be sent as soon as the server has read the head of the request. Some servers
        /// respond this early to refuse an upload.
        ///
        /// If the client waits for `100 Continue`, the server does not send it, and closes the connection after the
        /// response. If the client does not wait, the server still reads the body of the request to its end. With
        /// ``closure``, the closure receives the request without its body.
        public func beforeBody() -> Answer { with { $0.isEarly = true } }

        /// Returns the same answer, restricted to requests for which the condition is true. The condition receives the
        /// request without its body.
        public func when(_ fits: @escaping @Sendable (Request) -> Bool) -> Answer { with { $0.fits = fits } }

        private func with(_ change: (inout Answer) -> Void) -> Answer {
            var copy = self
            change(&copy)
            return copy
        }
    }
}

extension MockServer.Response {
    /// Returns the same response with a fault. Several faults at one moment occur in the order of the calls.
    ///
    /// Use it in a closure that chooses the fault for a request. When the closure runs, the moments of the request,
    /// such as ``MockServer/Moment/requestBody``, have passed: a fault at one of them is recorded in
    /// ``MockServer/Record/failures``, and the response is a 500.
    public func fault(_ effect: MockServer.Effect, at moment: MockServer.Moment) -> MockServer.Response {
        var response = self
        response.faults.append(MockServer.Fault(effect: effect, moment: moment))
        return response
    }
}

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
    public enum Effect: Sendable, Hashable {
        /// Closes the connection like a server that crashes: with FIN and, if TLS is used, without a close_notify.
        case close
        /// Closes the sending side of the connection, after a close_notify if TLS is used. Further input is read and
        /// discarded.
        case halfClose
        /// Resets the connection: RST.
        case reset
        /// Stops reading and sending for a duration, or nil for the time until the client closes the connection or the
        /// server is stopped.
        case stall(for: Duration?)
        /// Limits the speed of the connection from this moment, for input and output together: a number of bytes, at
        /// least 1, for each interval.
        case slow(bytes: Int, every: Duration)

        /// Stops reading and sending until the client closes the connection or the server is stopped.
        public static let stall = Effect.stall(for: nil)
    }

    /// An effect and the moment at which it occurs.
    struct Fault: Sendable, Hashable {
        let effect: Effect
        let moment: Moment
    }
}
