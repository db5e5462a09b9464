// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

extension MockServer {
    /// Determines what the server does with a request: it sends a response or raw bytes, with or without faults.
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
    /// The server responds with the first queue entry that matches the request. If no entry matches, the closure
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
        /// The condition that a request must fulfill, or nil for any request.
        var fits: (@Sendable (Request) -> Bool)?

        /// The response that the server closure returns. Use it to add a fault to that response.
        public static let closure = Answer(content: .closure)

        /// Responds with a given response, and doesn't call the server closure.
        public static func response(_ response: Response) -> Answer { Answer(content: .response(response)) }

        /// Sends bytes unchanged. They need not be valid HTTP.
        ///
        /// - Parameters:
        ///   - bytes: the bytes. A fault at ``Moment/responseBody`` occurs when half of them are sent.
        ///   - effect: the effect after the last byte, or nil to keep the connection open for the next request.
        ///     Default: ``Effect/halfClose``.
        public static func raw(_ bytes: Data, then effect: Effect? = .halfClose) -> Answer {
            let answer = Answer(content: .raw(bytes))
            return effect.map { answer.fault($0, at: .responseEnd) } ?? answer
        }

        /// Sends a string as UTF-8, unchanged. See the overload that takes `Data`.
        public static func raw(_ text: String, then effect: Effect? = .halfClose) -> Answer {
            raw(Data(text.utf8), then: effect)
        }

        /// Returns the same answer with a fault. If several faults have the same moment, they occur in the order of the
        /// calls.
        public func fault(_ effect: Effect, at moment: Moment) -> Answer {
            with { $0.faults.append(Fault(effect: effect, moment: moment)) }
        }

        /// Returns the same answer, but the server sends it as soon as it has read the request head.
        ///
        /// Some servers respond this early to refuse an upload. If the client waits for `100 Continue`, the server
        /// doesn't send it, and closes the connection after the response. If the client doesn't wait, the server still
        /// reads the whole request body. With ``closure``, the closure receives the request without its body.
        public func beforeBody() -> Answer { with { $0.isEarly = true } }

        /// Returns the same answer, restricted to requests that fulfill a condition.
        ///
        /// - Parameter fits: the condition. It receives the request without its body.
        public func when(_ fits: @escaping @Sendable (Request) -> Bool) -> Answer { with { $0.fits = fits } }

        private func with(_ change: (inout Answer) -> Void) -> Answer {
            var copy = self
            change(&copy)
            return copy
        }
    }
}

extension MockServer.Response {
    /// Returns the same response with a fault. If several faults have the same moment, they occur in the order of the
    /// calls.
    ///
    /// Use it in a closure that chooses the fault for a request. When the closure runs, the moments before the response
    /// have passed, such as ``MockServer/Moment/requestBody``. A fault at one of them becomes a failure in
    /// ``MockServer/Record/failures``, and the response is a 500.
    public func fault(_ effect: MockServer.Effect, at moment: MockServer.Moment) -> MockServer.Response {
        var response = self
        response.faults.append(MockServer.Fault(effect: effect, moment: moment))
        return response
    }
}

extension MockServer {
    /// The moment in an exchange when a fault occurs.
    public enum Moment: Sendable, Hashable, CaseIterable {
        /// The server has read the request head. It has processed neither the body nor the response.
        case requestStart
        /// The server has read half the request body, or its first bytes if the length isn't known. If there is no
        /// body, the server has read the head.
        case requestBody
        /// The response is ready, but the server has sent nothing.
        case responseStart
        /// The server has sent half the response body, or the first chunk if it sends chunks. If there is no body, the
        /// server has sent the head.
        case responseBody
        /// The server has sent the last response byte.
        case responseEnd
    }

    /// What a fault does to the connection.
    public enum Effect: Sendable, Hashable {
        /// Closes the connection like a server that crashes: with FIN and, if TLS is used, without a close_notify.
        case close
        /// Closes the sending side of the connection, after a close_notify if TLS is used. The server reads and
        /// discards further input.
        case halfClose
        /// Resets the connection: RST.
        case reset
        /// Stops reading and sending for a duration. If the duration is nil, the stall lasts until the client closes
        /// the connection or the server stops.
        case stall(for: Duration?)
        /// Limits the speed of the connection from this moment on. In each interval, at most this number of bytes is
        /// received and sent in total. A number below 1 counts as 1.
        case slow(bytes: Int, every: Duration)

        /// Stops reading and sending until the client closes the connection or the server stops.
        public static let stall = Effect.stall(for: nil)
    }

    /// An effect and the moment when it occurs.
    struct Fault: Sendable, Hashable {
        let effect: Effect
        let moment: Moment
    }
}

final class AnswerQueue: Sendable {
    // This type is a class because tests add answers while the server thread removes them.
    private struct Entry {
        let answer: MockServer.Answer
        /// How many more requests receive this answer.
        var left: Int
    }

    private let entries = Mutex<[Entry]>([])

    var count: Int { entries.withLock { $0.reduce(0) { $1.left > .max - $0 ? .max : $0 + $1.left } } }

    func append(_ answer: MockServer.Answer, times: Int) {
        guard times > 0 else { return }
        entries.withLock { $0.append(Entry(answer: answer, left: times)) }
    }

    /// Removes and returns the first answer that matches a request.
    func take(for request: MockServer.Request) -> MockServer.Answer? {
        // Conditions are test code, so they run outside the lock. Only the server thread removes entries, so the index
        // of a match doesn't change.
        let waiting = entries.withLock { $0 }
        guard let index = waiting.firstIndex(where: { $0.answer.fits?(request) ?? true }) else { return nil }
        entries.withLock { entries in
            entries[index].left -= 1
            if entries[index].left == 0 { entries.remove(at: index) }
        }
        return waiting[index].answer
    }
}
