// SPDX-License-Identifier: MIT
import Foundation

/// Finds the elements of a streamed response, such as its events, in the chunks in which it arrives. It performs no
/// input or output.
protocol ElementParser: Sendable {
    associatedtype Element: Sendable

    /// What a user iterates over, for messages.
    static var name: String { get }
    /// The identifier that the next connection sends in `Last-Event-ID`; empty if there is none.
    var lastID: String { get }
    /// The wait before a reconnection that the server has set; nil if it has set none.
    var reconnectionTime: Duration? { get }

    /// Begins with another response. What applies to the whole stream, such as the last identifier, is kept.
    ///
    /// - Throws: ``StreamFault`` if the response has another content type.
    mutating func begin(_ response: HTTPResponse) throws

    /// Adds the next chunk. All elements of the previous chunk must have been read.
    mutating func append(_ piece: Data)

    /// Returns the next complete element; nil if it needs another chunk.
    ///
    /// - Throws: ``StreamFault``.
    mutating func next() throws -> Element?

    /// Returns the element at the end of the body, if there is one.
    ///
    /// - Throws: ``StreamFault`` if the body is truncated.
    mutating func end() throws -> Element?
}

/// An error in the bytes of a stream.
struct StreamFault: Error {
    let code: HTTPError.Code
    let message: String
}

/// The connections of a stream over a client.
struct StreamConnections: Sendable {
    /// Sends the request of a connection, with an identifier in `Last-Event-ID` unless it is nil.
    typealias Open = @Sendable (HTTPClient, _ lastID: String?) async throws -> HTTPResponse

    let client: HTTPClient
    let reconnection: Reconnection
    /// The progress updates of the template. They end with the stream, even if nothing was sent.
    let progress: ProgressUpdates.Report?
    /// Builds the first request, which determines whether the stream may reconnect.
    let request: @Sendable () throws -> HTTPRequest
    let open: Open
    /// Returns what to open after an error that ends the stream otherwise; nil to throw the error. Default: nil.
    let restart: (@Sendable (HTTPError) async throws -> Open?)?
}

/// Where the elements of a stream come from.
enum StreamSource: Sendable {
    case connections(StreamConnections)
    /// A response that has arrived, which is iterated over without reconnecting.
    case response(HTTPResponse)

    /// Starts an iteration.
    func stream<Parser>(_ parser: Parser) -> ElementStream<Parser> {
        switch self {
        case .connections(let connections): ElementStream(connections, parser: parser)
        case .response(let response): ElementStream(response, parser: parser)
        }
    }
}

/// The state of an iteration over a streamed response: the connection, the parser, and the values for reconnecting.
struct ElementStream<Parser: ElementParser>: Sendable {
    private enum State {
        case notConnected, connected, ended
    }

    /// Returns what the next connection opens, instead of what the last one has opened; nil to open the same.
    var resume: (@Sendable () async throws -> StreamConnections.Open?)?
    private(set) var parser: Parser
    private(set) var origin: HTTPResponseBody.Origin?

    private let connections: StreamConnections?
    /// The response of the first connection, if the caller has sent the request.
    private var response: HTTPResponse?
    private var open: StreamConnections.Open?
    /// The client, in the generation in which the first connection was opened.
    private var client: HTTPClient?
    private var generation: ClientGeneration?
    private var state = State.notConnected
    private var deadline: DeadlinePoint?
    private var reconnects = false
    /// The number of attempts to reconnect since the last element.
    private var attempts = 0
    private var pieces: HTTPResponseBody.Iterator?

    init(_ connections: StreamConnections, parser: Parser) {
        (self.connections, self.parser, open) = (connections, parser, connections.open)
    }

    init(_ response: HTTPResponse, parser: Parser) {
        (connections, self.response, self.parser) = (nil, response, parser)
    }

    mutating func next() async throws -> Parser.Element? {
        do {
            // Most elements are in a chunk that has arrived.
            if state == .connected, let element = try nextInPiece() { return element }
            if state == .notConnected { try await begin() }
            return try await nextOfConnection()
        } catch {
            end()
            throw (error as? HTTPError)?.orCancellation ?? error
        }
    }

    /// Ends the iteration and closes its connection.
    mutating func end() {
        state = .ended
        (pieces, response) = (nil, nil)
        connections?.progress?.finish()
    }

    func error(_ code: HTTPError.Code, _ message: String, underlying: (any Error)? = nil) -> HTTPError {
        HTTPResponseBody.Origin.error(origin, code, message, underlying: underlying)
    }

    /// Opens the first connection.
    private mutating func begin() async throws {
        if let response {
            generation = response.request.context.generation
            return try begin(response)
        }
        guard let connections else { return }
        client = connections.client.pinned()
        generation = client?.generation
        let reconnection = connections.reconnection
        if reconnection.isEnabled {
            let request = try connections.request()
            if let rule = reconnection.brokenRule {
                throw HTTPError(.invalidRequest, request: request, message: rule)
            }
            reconnects = reconnection.applies(to: request)
            deadline = reconnection.deadline.map { DeadlinePoint(in: $0, on: Timeline(reconnection.clock)) }
        }
        do {
            try await connect(after: nil)
        } catch let error as HTTPError where reconnects && connections.restart != nil {
            try await restart(after: error)
            try await connectAgain(after: error)
        }
    }

    /// Returns the next element, and reconnects when a connection has ended; nil if the stream has ended.
    private mutating func nextOfConnection() async throws -> Parser.Element? {
        while state == .connected {
            if let element = try nextInPiece() { return element }
            let piece: Data?
            do {
                piece = try await pieces?.next()
            } catch let error as HTTPError where reconnects {
                if connections?.reconnection.accepts(error, isReading: true) != true {
                    try await restart(after: error)
                }
                try await connectAgain(after: error)
                continue
            }
            if let piece {
                parser.append(piece)
                continue
            }
            pieces = nil
            if let element = try parse({ try $0.end() }) {
                if !reconnects { state = .ended }
                return element
            }
            try await connectAgain(after: nil)
        }
        return nil
    }

    /// Returns the next complete element in the chunk.
    private mutating func nextInPiece() throws -> Parser.Element? {
        // The elements of a chunk that arrived before a reset belong to the previous user.
        try refuseIfStale()
        return try parse { try $0.next() }
    }

    @inline(__always)
    private mutating func parse(_ step: (inout Parser) throws -> Parser.Element?) throws -> Parser.Element? {
        do {
            guard let element = try step(&parser) else { return nil }
            attempts = 0
            return element
        } catch let fault as StreamFault {
            throw error(fault.code, fault.message)
        }
    }

    /// Throws `.cancelled` if the client was reset since the first connection was opened.
    private func refuseIfStale() throws {
        guard generation?.hasEnded == true else { return }
        throw error(.cancelled, "the client was reset; start a new \(Parser.name)")
    }

    /// Replaces what the next connection opens.
    ///
    /// - Throws: the error, if nothing replaces it.
    private mutating func restart(after error: HTTPError) async throws {
        guard error.code != .cancelled, let restarted = try await connections?.restart?(error) else { throw error }
        (open, resume) = (restarted, nil)
    }

    /// Reconnects after a connection has ended, within the limits of the settings.
    ///
    /// - Parameter error: the error that ended it; nil when the server closed it.
    private mutating func connectAgain(after error: HTTPError?) async throws {
        pieces = nil
        guard reconnects, let reconnection = connections?.reconnection else { return end() }
        var error = error
        while true {
            attempts += 1
            let wait = reconnection.wait(
                before: attempts, reconnectionTime: parser.reconnectionTime, after: error)
            guard let wait else {
                guard let error else { return end() }
                throw error
            }
            try await pause(for: wait, on: reconnection.clock)
            do {
                if let next = try await resume?() { open = next }
                resume = nil
                return try await connect(after: parser.lastID)
            } catch let failure as HTTPError {
                if !reconnection.accepts(failure, isReading: false) { try await restart(after: failure) }
                error = failure
            }
        }
    }

    private func pause(for wait: Duration, on clock: any Clock<Duration>) async throws {
        if let deadline, deadline.timeLeft <= wait {
            throw error(.timedOut, "the deadline of the \(Parser.name) passed before it could reconnect")
        }
        try await generation?.pause(for: wait, on: clock)
        try refuseIfStale()
    }

    private mutating func connect(after lastID: String?) async throws {
        guard let client, let open else { return end() }
        if let lastID, !ASCII.isFieldValue(lastID) {
            throw error(.invalidResponse, "the identifier of the last event cannot be sent in Last-Event-ID")
        }
        try begin(try await open(client, lastID.flatMap { $0.isEmpty ? nil : $0 }))
    }

    private mutating func begin(_ response: HTTPResponse) throws {
        origin = HTTPResponseBody.Origin(response)
        self.response = nil
        guard response.status != .noContent else { return end() }
        do {
            try parser.begin(response)
        } catch let fault as StreamFault {
            throw error(fault.code, fault.message)
        }
        pieces = response.body.makeAsyncIterator()
        state = .connected
    }
}
