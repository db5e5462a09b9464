import Foundation

/// One request and the answer to it, on their way.
struct Exchange {
    /// How far the request is.
    enum Stage {
        /// The head was read.
        case begun
        /// The body is being read.
        case body
        /// The body was read, a fault may strike.
        case ended
        /// The request is recorded; the answer is being made or sent.
        case answering
    }

    let head: RequestHead
    let answer: MockServer.Answer
    var stage = Stage.begun
    var request: MockServer.Request
    var faults: [MockServer.Fault]
    /// What runs for it: the closure, or the sequence that its answer is made of.
    var task: Task<Void, Never>?
    /// How the chunks that come are framed, while they come.
    var stream: ResponseEncoder.Stream?
    var streamed = 0
    /// Whether the connection ends behind the answer.
    var closes = false
    /// Whether the last byte of the answer has gone out.
    var isAnswered = false

    init(head: RequestHead, request: MockServer.Request, answer: MockServer.Answer) {
        self.head = head
        self.request = request
        self.answer = answer
        faults = answer.faults
    }

    /// Whether half of the body is there, so far as its length is known.
    var isHalfRead: Bool {
        guard case .length(let length) = head.framing else { return true }
        return request.bodySize * 2 >= length
    }

    func hasFault(at moment: MockServer.Moment) -> Bool { faults.contains { $0.moment == moment } }

    /// Takes the body away, to be put back longer.
    mutating func takeBody() -> Data {
        defer { request.body = Data() }
        return request.body
    }

    /// Takes the first fault of a moment.
    mutating func takeFault(at moment: MockServer.Moment) -> MockServer.Effect? {
        guard let index = faults.firstIndex(where: { $0.moment == moment }) else { return nil }
        return faults.remove(at: index).effect
    }
}
