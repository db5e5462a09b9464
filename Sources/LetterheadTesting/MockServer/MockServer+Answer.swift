public import Foundation

extension MockServer {
    /// An answer that waits in the server's queue for a request, with the faults that come with it.
    ///
    /// ```swift
    /// server.enqueue(
    ///     .response(.init(status: 503)),                                       // one for each request, in order
    ///     .response(.text("late")).fault(.stall(for: .seconds(1)), at: .responseStart),
    ///     .closure.fault(.reset, at: .requestBody),                            // the closure's, but for the fault
    ///     .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut"))              // these very bytes, then the end
    /// server.enqueue(.response(.text("b")).when { $0.path == "/b" })
    /// ```
    ///
    /// A request takes the first answer in the queue that fits it; when there is none, the closure answers.
    public struct Answer: Sendable {
        enum Content: Sendable {
            case closure
            case response(Response)
            case raw(Data)
        }

        let content: Content
        var faults: [Fault] = []
        var isEarly = false
        /// nil for an answer to any request.
        var fits: (@Sendable (Request) -> Bool)?

        /// What the server's closure answers; for a fault that strikes whatever the answer is.
        public static let closure = Answer(content: .closure)

        /// A response.
        public static func response(_ response: Response) -> Answer { Answer(content: .response(response)) }

        /// Bytes that go out as they are, be they HTTP or not.
        ///
        /// - Parameters:
        ///   - bytes: the bytes; half of them count as the head for ``Moment/responseBody``.
        ///   - effect: what comes behind the last byte. Default: the server ends its side. nil keeps the connection
        ///     open for the next request.
        public static func raw(_ bytes: Data, then effect: Effect? = .halfClose) -> Answer {
            let answer = Answer(content: .raw(bytes))
            return effect.map { answer.fault($0, at: .responseEnd) } ?? answer
        }

        /// The UTF-8 bytes of a text, as they are; as for bytes.
        public static func raw(_ text: String, then effect: Effect? = .halfClose) -> Answer {
            raw(Data(text.utf8), then: effect)
        }

        /// The same answer with a fault; several at one moment strike in the order of these calls.
        public func fault(_ effect: Effect, at moment: Moment) -> Answer {
            var answer = self
            answer.faults.append(Fault(effect: effect, moment: moment))
            return answer
        }

        /// The same answer, sent as soon as the head of the request was read, as servers do that refuse an upload.
        ///
        /// A client that waits for `100 Continue` does not get it, and the connection is closed behind the answer;
        /// another client's body is read to its end. ``closure`` sees such a request without its body.
        public func beforeBody() -> Answer {
            var answer = self
            answer.isEarly = true
            return answer
        }

        /// The same answer for requests only of which this is true; it sees a request without its body.
        public func when(_ fits: @escaping @Sendable (Request) -> Bool) -> Answer {
            var answer = self
            answer.fits = fits
            return answer
        }
    }
}

extension MockServer.Response {
    /// The same response with a fault on its way out; several at one moment strike in the order of these calls.
    ///
    /// For a closure that picks the fault by the request. The moments of the request have passed when a closure runs: a
    /// fault at one of them is a ``MockServer/Record/failures`` and a 500.
    public func fault(_ effect: MockServer.Effect, at moment: MockServer.Moment) -> MockServer.Response {
        var response = self
        response.faults.append(MockServer.Fault(effect: effect, moment: moment))
        return response
    }
}
