// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A request and the response to it, in progress.
struct Exchange {
    /// How far the exchange has come.
    enum Stage {
        /// The head was read.
        case begun
        /// The body is being read.
        case body
        /// The body was read. A fault may occur.
        case ended
        /// The request is recorded. The response is being created or sent.
        case answering
    }

    let head: RequestHead
    let answer: MockServer.Answer
    var stage = Stage.begun
    var request: MockServer.Request
    var faults: [MockServer.Fault]
    /// Runs the closure, or the sequence that produces the response body.
    var task: Task<Void, Never>?
    /// A streamed response body's framing.
    var stream: ResponseEncoder.Stream?
    var streamed = 0
    /// Whether the connection closes after the response.
    var closes = false
    /// Whether the response has been sent to its last byte.
    var isAnswered = false

    init(head: RequestHead, request: MockServer.Request, answer: MockServer.Answer) {
        self.head = head
        self.request = request
        self.answer = answer
        faults = answer.faults
    }

    /// Whether at least half the body has arrived. True if the body's length isn't known.
    var isHalfRead: Bool {
        guard case .length(let length) = head.framing else { return true }
        return request.bodySize * 2 >= length
    }

    func hasFault(at moment: MockServer.Moment) -> Bool { faults.contains { $0.moment == moment } }

    /// Removes and returns the body. The caller appends to it and puts it back.
    mutating func takeBody() -> Data {
        defer { request.body = Data() }
        return request.body
    }

    /// Removes and returns a moment's first fault.
    mutating func takeFault(at moment: MockServer.Moment) -> MockServer.Effect? {
        guard let index = faults.firstIndex(where: { $0.moment == moment }) else { return nil }
        return faults.remove(at: index).effect
    }
}
