// SPDX-License-Identifier: MIT
import Foundation

/// The state of an iteration over events: the connection, the parser, and the values for reconnecting.
struct EventStream: Sendable {
    private enum State {
        case notConnected, connected, ended
    }

    private let sequence: EventSequence
    /// The client, in the generation in which the first connection was opened.
    private var client: HTTPClient
    private var state = State.notConnected
    private var deadline: DeadlinePoint?
    private var reconnects = false
    /// The number of attempts to reconnect since the last event.
    private var attempts = 0

    private var pieces: HTTPResponseBody.Iterator?
    private var splitter: LineSplitter
    private var parser: EventStreamParser
    private var origin: HTTPResponseBody.Origin?

    init(_ sequence: EventSequence) {
        self.sequence = sequence
        client = sequence.client
        splitter = LineSplitter(.carriageReturnToo, limit: sequence.limit)
        parser = EventStreamParser(limit: sequence.limit)
    }

    mutating func next() async throws -> ServerSentEvent? {
        do {
            while state != .ended {
                if state == .notConnected { try await begin() }
                if let event = try await nextOfConnection() { return event }
            }
            return nil
        } catch {
            end()
            throw (error as? HTTPError)?.orCancellation ?? error
        }
    }

    /// The error of a stream that ended without its sentinel.
    func missingEnd(_ sentinel: String) -> HTTPError {
        HTTPResponseBody.Origin.error(
            origin, .invalidResponse, "the event stream ended without its final event \"\(sentinel)\"")
    }

    private mutating func end() {
        state = .ended
        pieces = nil
        sequence.progress?.finish()
    }

    /// Throws `.cancelled` if the client was reset since the first connection was opened.
    private func refuseIfStale() throws {
        guard !client.generation.hasEnded else {
            throw HTTPResponseBody.Origin.error(
                origin, .cancelled, "the client was reset; start a new event stream")
        }
    }

    /// Opens the first connection. An error of this attempt is thrown, and does not cause a reconnection.
    private mutating func begin() async throws {
        client = sequence.client.pinned()
        let reconnection = sequence.reconnection
        if reconnection.isEnabled {
            let request = try sequence.request()
            if let rule = reconnection.brokenRule {
                throw HTTPError(.invalidRequest, request: request, message: rule)
            }
            reconnects = reconnection.applies(to: request)
            deadline = reconnection.deadline.map { DeadlinePoint(in: $0, on: Timeline(reconnection.clock)) }
        }
        try await open(after: nil)
    }

    /// Returns the next event, and reconnects when a connection has ended; nil if the stream has ended.
    private mutating func nextOfConnection() async throws -> ServerSentEvent? {
        while state == .connected {
            // The events of a chunk that arrived before a reset belong to the previous user.
            try refuseIfStale()
            if let event = try nextInPiece() { return event }
            let piece: Data?
            do {
                piece = try await pieces?.next()
            } catch let error as HTTPError where reconnects && sequence.reconnection.accepts(error, isReading: true) {
                try await connectAgain(after: error)
                continue
            }
            if let piece { splitter.append(piece) } else { try await connectAgain(after: nil) }
        }
        return nil
    }

    /// Returns the next complete event in the chunk.
    private mutating func nextInPiece() throws -> ServerSentEvent? {
        do {
            while let result = try splitter.next({ line in try parser.take(line) }) {
                guard var event = result else { continue }
                attempts = 0
                event.origin = origin
                return event
            }
            return nil
        } catch is LineSplitter.LineTooLong {
            throw tooLarge("a line")
        } catch is EventStreamParser.EventTooLarge {
            throw tooLarge("the data of an event")
        }
    }

    private func tooLarge(_ what: String) -> HTTPError {
        HTTPResponseBody.Origin.error(
            origin, .responseTooLarge, "\(what) is larger than the \(sequence.limit) bytes allowed")
    }

    /// Reconnects after a connection has ended, within the limits of the settings.
    ///
    /// - Parameter error: the error that ended it; nil when the server closed it.
    private mutating func connectAgain(after error: HTTPError?) async throws {
        pieces = nil
        guard reconnects else { return end() }
        var error = error
        while true {
            attempts += 1
            guard
                let wait = sequence.reconnection.wait(
                    before: attempts, reconnectionTime: parser.reconnectionTime, after: error)
            else {
                guard let error else { return end() }
                throw error
            }
            try await pause(for: wait)
            do {
                return try await open(after: parser.lastID)
            } catch let failure as HTTPError where sequence.reconnection.accepts(failure, isReading: false) {
                error = failure
            }
        }
    }

    private func pause(for wait: Duration) async throws {
        if let deadline, deadline.timeLeft <= wait {
            throw HTTPResponseBody.Origin.error(
                origin, .timedOut, "the deadline of the event stream passed before it could reconnect")
        }
        try await client.generation.pause(for: wait, on: sequence.reconnection.clock)
        try refuseIfStale()
    }

    private mutating func open(after lastID: String?) async throws {
        if let lastID, !ASCII.isFieldValue(lastID) {
            throw HTTPResponseBody.Origin.error(
                origin, .invalidResponse, "the identifier of the last event cannot be sent in Last-Event-ID")
        }
        let response = try await sequence.connect(client, lastID.flatMap { $0.isEmpty ? nil : $0 })
        origin = HTTPResponseBody.Origin(response)
        guard response.status != .noContent else { return end() }
        let type = response.headers.mediaType?.essence
        guard type == "text/event-stream" else {
            throw HTTPResponseBody.Origin.error(
                origin, .invalidResponse,
                "expected a response of type text/event-stream, and received \(type ?? "no Content-Type")")
        }
        splitter = LineSplitter(.carriageReturnToo, limit: sequence.limit)
        parser = EventStreamParser(
            limit: sequence.limit, lastID: parser.lastID, reconnectionTime: parser.reconnectionTime)
        pieces = response.body.makeAsyncIterator()
        state = .connected
    }
}
