// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Finds the elements in a streamed response, such as events, as chunks arrive. It performs no input or output.
protocol ElementParser: Sendable {
    associatedtype Element: Sendable

    /// What error messages call the sequence that the caller iterates over.
    static var name: String { get }
    /// The value of `Last-Event-ID` for the next connection. It is empty until the stream contains an identifier.
    var lastID: String { get }
    /// How long the server asks the client to wait before a reconnection. Nil if it has set no time.
    var reconnectionTime: Duration? { get }

    /// Forgets the last identifier, because the next connection begins a different stream.
    mutating func forgetID()

    /// Begins with a new response. Values that apply to the whole stream, such as the last identifier, are kept.
    ///
    /// - Throws: ``StreamFault`` if the response has a different content type.
    mutating func begin(_ response: HTTPResponse) throws

    /// Adds the next chunk. Read all elements from the previous chunk first.
    mutating func append(_ piece: Data)

    /// Returns the next complete element, or nil if it needs more bytes.
    ///
    /// - Throws: ``StreamFault``.
    mutating func next() throws -> Element?

    /// Returns the element that the end of the body completes, if any.
    ///
    /// - Throws: ``StreamFault`` if the body is truncated.
    mutating func end() throws -> Element?
}

struct StreamFault: Error {
    let code: HTTPError.Code
    let message: String
}

struct StreamConnection: Sendable {
    /// Builds the request without sending it, to determine whether it may be sent again.
    let request: @Sendable (RequestSeries) throws -> HTTPRequest
    /// Sends the request. If the identifier isn't nil, the request contains it in `Last-Event-ID`.
    let open: @Sendable (HTTPClient, _ lastID: String?) async throws -> HTTPResponse

    /// Combines two closures: the first returns a template for the input, and the second makes a connection of it. The
    /// result is nil if there is no template, so that the stream ends.
    static func next<Input, Template>(
        _ template: @escaping @Sendable (Input) async throws -> Template?,
        _ connection: @escaping @Sendable (Template) -> StreamConnection
    ) -> @Sendable (Input) async throws -> StreamConnection? {
        { input in try await template(input).map(connection) }
    }
}

struct StreamConnections: Sendable {
    let client: HTTPClient
    let reconnection: Reconnection
    /// The options of the template. The progress updates among them end with the stream, even if nothing was sent.
    let options: HTTPRequestOptions
    let first: StreamConnection
    /// Returns the request to send after an error that would end the stream, or nil to throw the error. The closure
    /// itself is nil if all connections send the same request.
    let restart: (@Sendable (HTTPError) async throws -> StreamConnection?)?
}

enum StreamSource: Sendable {
    case connections(StreamConnections)
    /// A response that has arrived. It is read without reconnecting.
    case response(HTTPResponse)
}

/// The state of an iteration: the connection, the parser, and the values for reconnecting.
struct ElementStream<Parser: ElementParser>: Sendable {
    private enum State {
        case notConnected, connected, ended
    }

    /// Returns the request for the next connection, or nil to send the last request again.
    var resume: (@Sendable () async throws -> StreamConnection?)?
    var parser: Parser
    /// The current response without its body.
    private(set) var head: HTTPResponse?

    private let connections: StreamConnections?
    /// The response that is read first. Nil if the stream sends the request itself.
    private var response: HTTPResponse?
    private var connection: StreamConnection?
    /// Whether the request of ``connection`` has not been sent yet.
    private var isNew = true
    /// The error that ended the last connection, until the caller's closure has returned a request that restarts the
    /// stream.
    private var unrestarted: HTTPError?
    /// Nil if the caller has sent the request.
    private var series: RequestSeries?
    /// Performs the waits, and throws when the deadline has passed. The deadline doesn't end an open connection.
    private var waits: RequestSeries?
    private var generation: ClientGeneration?
    private var state = State.notConnected
    private var reconnects = false
    /// The number of attempts to reconnect since the last delivered element.
    private var attempts = 0
    /// Whether the last body ended with an element that could not be decoded. A delivered element resets it.
    private var hasCutElement = false
    private var pieces: HTTPResponseBody.Iterator?
    /// Whether the end of the body completed the last element, so that the element may be truncated.
    private var isLastOfBody = false

    init(_ source: StreamSource, parser: Parser) {
        self.parser = parser
        switch source {
        case .connections(let connections): (self.connections, connection) = (connections, connections.first)
        case .response(let response): (connections, self.response) = (nil, response)
        }
    }

    mutating func next() async throws -> Parser.Element? {
        do {
            // Fast path: most elements are in a chunk that has already arrived.
            do {
                if state == .connected, let element = try nextInPiece() { return element }
            } catch let error as HTTPError where reconnects {
                try await startAgain(after: error)
            }
            if state == .notConnected { try await begin() }
            return try await nextOfConnection()
        } catch {
            throw ended(by: error)
        }
    }

    /// Records that the caller receives the last element. Only a delivered element resets the number of attempts. An
    /// element that can't be decoded or is skipped doesn't.
    mutating func delivered() { (attempts, hasCutElement) = (0, false) }

    /// Continues after an element that could not be decoded.
    ///
    /// - If the element may be truncated, the next connection continues the stream.
    /// - Otherwise, or if the next body also ends with such an element, the caller's closure must restart the stream.
    ///
    /// - Throws: the error, if nothing continues the stream.
    mutating func recover(from error: HTTPError) async throws {
        do {
            guard reconnects else { throw error }
            if !isLastOfBody || hasCutElement { try await restart(after: error) }
            hasCutElement = isLastOfBody
            try await connectAgain(after: error)
        } catch {
            throw ended(by: error)
        }
    }

    func error(_ code: HTTPError.Code, _ message: String, underlying: (any Error)? = nil) -> HTTPError {
        HTTPError(
            code, request: head?.request ?? HTTPRequest(), response: head, underlying: underlying, message: message)
    }

    private mutating func ended(by error: any Error) -> any Error {
        end()
        return (error as? HTTPError)?.orCancellation ?? error
    }

    private mutating func end() {
        state = .ended
        (pieces, response) = (nil, nil)
        connections?.options.endProgress()
    }

    private mutating func begin() async throws {
        if let response {
            generation = response.request.generation
            return try begin(response)
        }
        guard let connections else { return }
        let series = connections.client.series()
        (self.series, generation) = (series, series.generation)
        let reconnection = connections.reconnection
        if reconnection.isEnabled {
            let request = try connections.first.request(series)
            if let rule = reconnection.brokenRule {
                throw HTTPError(.invalidRequest, request: request, message: rule)
            }
            reconnects = connections.restart != nil || reconnection.allowsRepeating(request)
            waits = series.client.series(within: reconnection.deadline, clock: reconnection.backoff.clock)
        }
        do {
            try await connect(after: nil)
        } catch let error as HTTPError where reconnects && connections.restart != nil {
            try await startAgain(after: error)
        }
    }

    /// Returns the next element, and reconnects when a connection has ended. Returns nil if the stream has ended.
    private mutating func nextOfConnection() async throws -> Parser.Element? {
        while state == .connected {
            do {
                if let element = try nextInPiece() { return element }
            } catch let error as HTTPError where reconnects {
                try await startAgain(after: error)
                continue
            }
            do {
                if let piece = try await pieces?.next() {
                    parser.append(piece)
                    continue
                }
                pieces = nil
                if let element = try parse({ try $0.end() }) {
                    isLastOfBody = true
                    if !reconnects { state = .ended }
                    return element
                }
            } catch let error as HTTPError where reconnects {
                if !error.isTemporary(whileReading: true) {
                    try await restart(after: error)
                }
                try await connectAgain(after: error)
                continue
            }
            try await connectAgain(after: nil)
        }
        return nil
    }

    private mutating func nextInPiece() throws -> Parser.Element? {
        // If the client was reset after a chunk arrived, the elements of the chunk belong to the previous user.
        try refuseIfStale()
        return try parse { try $0.next() }
    }

    @inline(__always)
    private mutating func parse(_ step: (inout Parser) throws -> Parser.Element?) throws -> Parser.Element? {
        do {
            guard let element = try step(&parser) else { return nil }
            isLastOfBody = false
            return element
        } catch let fault as StreamFault {
            throw error(fault.code, fault.message)
        }
    }

    /// Throws `.cancelled` if the client was reset since the first connection was opened.
    private func refuseIfStale() throws {
        guard generation?.hasEnded == true else { return }
        throw error(.cancelled, "the client was reset (start a new \(Parser.name))")
    }
}

// MARK: Reconnecting

extension ElementStream {
    /// Reconnects after a connection has ended, as often and as long as the settings allow.
    ///
    /// - Parameter error: the error that ended the connection, or nil if the server closed it.
    private mutating func connectAgain(after error: HTTPError?) async throws {
        pieces = nil
        guard reconnects, let reconnection = connections?.reconnection else { return end() }
        var error = error
        while true {
            attempts += 1
            let wait = reconnection.backoff.wait(before: attempts, after: error, from: parser.reconnectionTime)
            guard let wait else {
                guard let error else { return end() }
                throw error
            }
            do { try await waits?.pause(for: wait, after: error, before: try request()) } catch let error as HTTPError {
                // An earlier connection may have sent the request.
                throw error.with(response: error.response ?? head, mayHaveBeenSent: true)
            }
            try refuseIfStale()
            if let cause = unrestarted { try await restart(after: cause) }
            guard unrestarted == nil else { continue }
            var refusal: HTTPError?
            do {
                if let next = try await resume?() { replace(by: next) }
                resume = nil
                refusal = try refusalToRepeat(after: error)
                if refusal == nil { return try await connect(after: parser.lastID) }
            } catch let failure as HTTPError {
                if !failure.isTemporary() { try await restart(after: failure) }
                error = failure
            }
            // No later attempt would send the request, even if the error is temporary.
            if let refusal {
                try await restart(after: refusal)
                error = refusal
            }
        }
    }

    /// Starts the stream again after an error that would end it.
    ///
    /// - Throws: the error, if nothing restarts the stream.
    private mutating func startAgain(after error: HTTPError) async throws {
        try await restart(after: error)
        try await connectAgain(after: error)
    }

    /// Replaces the request by a request that starts the stream again. If the caller's closure fails temporarily, the
    /// next attempt calls it again.
    ///
    /// - Throws: the error, if nothing restarts the stream.
    private mutating func restart(after cause: HTTPError) async throws {
        guard cause.code != .cancelled, let connections, let restart = connections.restart else { throw cause }
        pieces = nil
        let next: StreamConnection?
        do { next = try await restart(cause) } catch let failure as HTTPError where failure.isTemporary() {
            return unrestarted = cause
        }
        guard let next else { throw cause }
        replace(by: next)
        (unrestarted, resume) = (nil, nil)
    }

    /// Replaces the request, and forgets the last event identifier, because it belongs to the previous stream.
    private mutating func replace(by next: StreamConnection) {
        (connection, isNew) = (next, true)
        parser.forgetID()
    }

    /// Returns the error if the request was sent and may not be sent again.
    private func refusalToRepeat(after error: HTTPError?) throws -> HTTPError? {
        guard !isNew, error?.mayHaveBeenSent != false, let connections else { return nil }
        let request = try request()
        guard !connections.reconnection.allowsRepeating(request) else { return nil }
        return error
            ?? HTTPError(
                .invalidRequest, request: request,
                message:
                    "the \(Parser.name) cannot continue: "
                    + (request.body.isReplayable
                        ? "\(request.method.printable) is not idempotent, so the request is not sent again (return "
                            + "a new one for the next connection, or mark it with idempotent(key: .none))"
                        : "the body can be sent only once (return a new request for the next connection)")
            )
    }

    private func request() throws -> HTTPRequest {
        guard let series, let connection else { return HTTPRequest() }
        return try connection.request(series)
    }

    private mutating func connect(after lastID: String?) async throws {
        guard let series, let connection else { return end() }
        if let lastID, !ASCII.isFieldValue(lastID) {
            throw error(
                .invalidResponse, "the identifier of the last event has a character that Last-Event-ID can't contain")
        }
        isNew = false
        try begin(try await connection.open(series.client, lastID.flatMap { $0.isEmpty ? nil : $0 }))
    }

    private mutating func begin(_ response: HTTPResponse) throws {
        head = response.head
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

extension HTTPError {
    /// The error to throw to the caller. If the caller's task was cancelled, it is a `CancellationError`.
    var orCancellation: any Error { code == .cancelled && Task.isCancelled ? CancellationError() : self }
}

extension HTTPResponse {
    /// The response without its body.
    var head: HTTPResponse {
        var head = self
        head.body = HTTPResponseBody()
        return head
    }

    var mediaType: MediaType? { headers[.contentType].flatMap { MediaType($0) } }

    /// The decoder of the request, or else a `JSONDecoder` with the default settings.
    var decoder: any HTTPBodyDecoder { request.decoder ?? JSONDecoder() }
}
