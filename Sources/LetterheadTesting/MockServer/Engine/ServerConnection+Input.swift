// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension ServerConnection {
    /// The maximum number of unparsed bytes. If there are more, the connection stops reading.
    private static let inputLimit = 262_144

    /// Whether the connection can take more bytes now.
    var wantsInput: Bool { !inputEnded && parser.input.count < Self.inputLimit }

    /// Reads once. Returns false if there is nothing to read, or if reading is paused.
    func receive() throws -> Bool {
        guard wantsInput, let limit = allowance(loop.scratch.count) else { return false }
        guard let count = try stream.receive(into: &loop.scratch, atMost: limit) else { return false }
        guard count > 0 else {
            endInput()
            return false
        }
        pace?.left -= count
        parser.append(loop.scratch[..<count])
        return true
    }

    /// Handles the end of the input. The client may still read after it.
    ///
    /// - If a request is incomplete, the connection closes.
    /// - If a task creates or sends a response, it is cancelled. If the response is ready nevertheless, it is sent.
    /// - If there is no exchange, the connection closes when all output has been sent.
    private func endInput() {
        inputEnded = true
        guard let exchange else { return }
        if exchange.stage == .answering { exchange.task?.cancel() } else { close(.byClient) }
    }

    /// Reads and discards input, so that the connection is not reset while the client reads the last response.
    func drain() {
        do {
            try stream.flush()
            while let count = try stream.socket.receive(into: &loop.scratch) {
                if count == 0 { return close(.byServer) }
            }
        } catch {
            close(.byServer)
        }
    }

    /// Parses the next input. Returns false if more bytes are needed, or if the response must first be complete.
    func advanceExchange() throws(RequestFault) -> Bool {
        guard let stage = exchange?.stage else { return try begin() }
        switch stage {
        case .begun:
            guard reach(.requestStart) else { return true }
            startBody()
        case .body:
            guard try readBody() else { return false }
        case .ended:
            guard reach(.requestBody) else { return true }
            completeRequest()
        case .answering:
            return false
        }
        return true
    }

    private func begin() throws(RequestFault) -> Bool {
        var none = Data()
        guard case .head(let head)? = try parser.next(body: &none, keeping: 0) else { return false }
        let request = MockServer.Request(head: head, connection: number)
        record { $0.requests += 1 }
        let answer = loop.queue.take(for: request) ?? .closure
        exchange = Exchange(head: head, request: request, answer: answer)
        return true
    }

    private func startBody() {
        guard let begun = exchange else { return }
        exchange?.stage = .body
        if begun.answer.isEarly {
            exchange?.closes = begun.head.expectsContinue
            startAnswer()
        } else if begun.head.expectsContinue, loop.configuration.sendsContinue, parser.input.isEmpty {
            output.append(.bytes(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)))
        }
    }

    private func readBody() throws(RequestFault) -> Bool {
        // The body is moved out of the exchange and back. This variable is then its only owner, so appending doesn't
        // copy the bytes.
        guard var body = exchange?.takeBody() else { return false }
        let kept = loop.configuration.keptBodySize - body.count
        let event = try parser.next(body: &body, keeping: kept)
        exchange?.request.body = body
        switch event {
        case .body(let count):
            exchange?.request.bodySize += count
            if exchange?.isHalfRead == true { _ = reach(.requestBody) }
        case .end(let trailers):
            exchange?.request.trailers = trailers
            exchange?.stage = .ended
        case .head, nil:
            return false
        }
        return true
    }

    private func completeRequest() {
        exchange?.stage = .answering
        exchange?.request.isComplete = true
        guard let complete = exchange else { return }
        record(complete.request)
        if !complete.answer.isEarly {
            startAnswer()
        } else if complete.isAnswered {
            exchange = nil
        }
    }

    /// Responds to bytes that are not a valid request, and closes the connection.
    func refuse(_ fault: RequestFault) {
        fail(fault)
        abandonExchange()
        let text = "MockServer: \(fault)\n"
        let head = "HTTP/1.1 \(fault.status) Refused\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n"
        output.append(.bytes(Data((head + text).utf8)))
        output.append(.goodbye)
        inputEnded = true
    }
}
