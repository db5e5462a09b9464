// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

extension ServerConnection {
    /// Starts the answer that was chosen for the request.
    func startAnswer() {
        guard let asked = exchange else { return }
        switch asked.answer.content {
        case .closure: exchange?.task = loop.askClosure(asked.request)
        case .response(let response): respond(response)
        case .raw(let bytes): queue(head: Data(), body: bytes, isWhole: true)
        }
    }

    /// Sends the response from the closure, or a 500 for its error.
    func answered(_ result: Result<MockServer.Response, any Error>) {
        guard state == .open, exchange != nil else { return }
        exchange?.task = nil
        switch result {
        case .success(let response):
            respond(response)
        case .failure(let error) where inputEnded && error is CancellationError:
            close(.byClient)
        case .failure(let error):
            answerFailure(error)
        }
    }

    private func respond(_ response: MockServer.Response) {
        guard let asked = exchange else { return }
        do {
            if let late = response.faults.first(where: { $0.moment == .requestStart || $0.moment == .requestBody }) {
                throw PlainFailure("a fault at \(late.moment) is too late in a response: queue it in an Answer")
            }
            let encoded = try ResponseEncoder(request: asked.head, mustClose: asked.closes).encode(response)
            exchange?.faults += response.faults
            exchange?.closes = encoded.closes
            exchange?.stream = encoded.stream
            queue(head: encoded.head, body: encoded.body, isWhole: encoded.stream == nil)
            guard encoded.stream != nil, let chunks = response.chunks else { return }
            exchange?.task = loop.pull(chunks, connection: number)
        } catch {
            answerFailure(error)
        }
    }

    /// Sends a 500 that names the error, so that the response shows a mistake in the test.
    private func answerFailure(_ error: any Error) {
        fail(error)
        respond(.text("MockServer: the answer failed: \(error)\n", status: 500))
    }

    private func queue(head: Data, body: Data, isWhole: Bool) {
        guard let asked = exchange else { return }
        if asked.hasFault(at: .responseStart) { output.append(.moment(.responseStart)) }
        if !isWhole {
            output.append(.bytes(head))
        } else if asked.hasFault(at: .responseBody) {
            output.append(.bytes(head + body.prefix(body.count / 2)))
            output.append(.moment(.responseBody))
            output.append(.bytes(Data(body.dropFirst(body.count / 2))))
        } else if body.count < 65_536 {
            output.append(.bytes(head + body))
        } else {
            output.append(.bytes(head))
            output.append(.bytes(body))
        }
        if isWhole { queueEnd() }
    }

    private func queueEnd() {
        output.append(.moment(.responseEnd))
        output.append(.answered)
    }

    func chunk(_ bytes: Data, _ continuation: CheckedContinuation<Void, any Error>) {
        guard state == .open, let asked = exchange, let stream = asked.stream else {
            return continuation.resume(throwing: CancellationError())
        }
        output.append(.bytes(stream.isChunked ? ResponseEncoder.chunk(bytes) : bytes))
        if asked.streamed == 0 { output.append(.moment(.responseBody)) }
        exchange?.streamed += bytes.count
        output.append(.resume(continuation))
    }

    /// Ends the body, or aborts it after an error.
    func streamEnded(_ error: (any Error)?) {
        guard state == .open, let asked = exchange, let stream = asked.stream else { return }
        exchange?.task = nil
        exchange?.stream = nil
        if let error {
            if !(inputEnded && error is CancellationError) { fail(error) }
            return close(.byServer)
        }
        if asked.streamed == 0 { output.append(.moment(.responseBody)) }
        if stream.isChunked { output.append(.bytes(ResponseEncoder.lastChunk(stream.trailers))) }
        if let declared = stream.declared, declared != asked.streamed { exchange?.closes = true }
        queueEnd()
    }

    /// Ends the exchange after the last response byte.
    ///
    /// If the request is still arriving and the connection stays open, the exchange continues until the request is
    /// complete.
    func finishAnswer() {
        guard let answered = exchange else { return }
        if answered.closes {
            endOutput()
        } else if answered.stage == .answering {
            exchange = nil
        }
    }
}

extension ServerConnection {
    /// Sends the queued segments, until the system accepts no more bytes or a fault holds the connection.
    func send() throws {
        isBlocked = false
        while state == .open, hold == nil, let segment = output.next {
            switch segment {
            case .bytes(let bytes):
                guard try send(bytes) else { return }
            default:
                // The next segment waits until all bytes before it have been sent.
                try stream.flush()
                isBlocked = stream.hasUnsentBytes
                if isBlocked { return }
                guard pass(segment) else { return }
            }
        }
        if state == .open, stream.hasUnsentBytes {
            try stream.flush()
            isBlocked = stream.hasUnsentBytes
        }
    }

    /// Sends some bytes. Returns false if no more can be sent now.
    private func send(_ bytes: Data) throws -> Bool {
        guard let limit = allowance(bytes.count) else { return false }
        let sent = try stream.transmit(bytes.prefix(limit))
        pace?.left -= sent
        output.dropBytes(sent)
        isBlocked = sent < limit
        return !isBlocked
    }

    /// Handles a segment that has no bytes. Returns false if a fault holds the connection.
    private func pass(_ segment: OutputQueue.Segment) -> Bool {
        if case .moment(let moment) = segment {
            if moment == .responseEnd { countResponse() }
            guard reach(moment) else { return false }
        }
        output.removeFirst()
        switch segment {
        case .bytes, .moment: break
        case .resume(let continuation): continuation.resume()
        case .answered: finishAnswer()
        case .goodbye: endOutput()
        }
        return true
    }

    private func countResponse() {
        guard exchange?.isAnswered == false else { return }
        exchange?.isAnswered = true
        record { $0.responses += 1 }
    }

    /// Ends the output. The connection still reads its input to the end.
    func endOutput() {
        stream.endOutput()
        abandonExchange()
        state = .draining
    }
}

/// The queued output of a connection: bytes, and the events between them, in order.
struct OutputQueue {
    enum Segment {
        case bytes(Data)
        /// A fault may occur here.
        case moment(MockServer.Moment)
        /// The preceding bytes were sent, so the task that produced them can continue.
        case resume(CheckedContinuation<Void, any Error>)
        /// The answer is complete.
        case answered
        /// The server sends nothing more on this connection.
        case goodbye
    }

    private var segments: [Segment] = []

    var isEmpty: Bool { segments.isEmpty }
    var next: Segment? { segments.first }

    mutating func append(_ segment: Segment) {
        if case .bytes(let bytes) = segment, bytes.isEmpty { return }
        segments.append(segment)
    }

    mutating func removeFirst() { segments.removeFirst() }

    mutating func dropBytes(_ count: Int) {
        guard case .bytes(let bytes) = next else { return }
        if count == bytes.count { removeFirst() } else { segments[0] = .bytes(bytes.dropFirst(count)) }
    }

    /// Discards the queue and resumes all waiting producers.
    mutating func discard() {
        for case .resume(let continuation) in segments { continuation.resume(throwing: CancellationError()) }
        segments = []
    }
}
