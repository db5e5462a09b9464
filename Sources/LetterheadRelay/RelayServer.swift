// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// Answers the messages of a ``Relay`` in a different program. It sends each request over a chain of this program, and
/// returns the response as data. Create a server for each peer, and keep it: a message that cancels a request must
/// reach the server that sends it.
///
/// ```swift
/// let server = RelayServer(client)                    // with the cookies, the tokens and the cache of the client
/// for await message in link { await link.reply(server.answer(message.data), to: message) }
/// ```
///
/// > Warning: The server accepts every request that it receives. Any program that can write to it can send requests to
/// > any host that this device reaches, with the credentials that the links of the chain add. It can also read the
/// > responses and reset the chain. Authenticate the peer, and begin the chain with a link that refuses what the peer
/// > may not do.
///
/// The server doesn't follow redirects and doesn't retry, because the near end decides about both.
///
/// The answer to a malformed message is an error, and nothing is sent. The deadline of a request is the time that was
/// left when it was written, counted from its arrival. Its `timeout` limits each attempt in the chain.
///
/// Deliver each message at most once. While its request is in progress, and until 1,024 later requests have ended, the
/// server answers the same message with `.invalidRequest` (with `mayHaveBeenSent` set) and sends nothing. It answers in
/// the same way if a request arrives after the message that cancels it.
public struct RelayServer: Sendable {
    fileprivate let form: WireForm
    private let chain: any HTTPLoader
    private let running = RunningRelays()

    /// Creates the server for one peer.
    ///
    /// - Parameters:
    ///   - chain: sends the requests.
    ///   - form: the form that the ``Relay`` of the peer uses. Default: no options and no secrets.
    ///   - clock: measures deadlines. Default: the continuous clock.
    public init(
        _ chain: any HTTPLoader, _ form: WireForm = WireForm(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.chain = Deadline(clock: clock) --> chain
        self.form = form
    }

    /// Creates the server for one peer, with a client that sends the requests.
    ///
    /// The answer contains a response with any status, because the near end judges the status. The other parameters are
    /// the same as for a chain.
    public init(_ client: HTTPClient, _ form: WireForm = WireForm(), clock: any Clock<Duration> = ContinuousClock()) {
        self.init(ClientLoader(client: client), form, clock: clock)
    }

    /// Returns the answer to a message, with the whole response body. If the calling task is cancelled, so is the
    /// request, and the answer contains the error.
    public func answer(_ message: Data) async -> Data { await first(of: message, streamed: false).data }

    /// Returns the answer to a message in pieces: first the response head, and then the body as the reader requests it.
    /// Use it with ``Relay/streaming(_:clock:_:)``. Drop the sequence to end the request.
    public func answers(to message: Data) -> AsyncStream<Data> {
        let answer = StreamedAnswer(self, message)
        return AsyncStream { await answer.next() }
    }

    fileprivate func first(of data: Data, streamed: Bool) async -> (data: Data, body: HTTPResponse?) {
        var received: HTTPRequest?
        do throws(HTTPError) {
            let (message, body) = try readMessage(data)
            guard let wire = message.request else {
                if let id = message.cancel { await running.end(try Self.checked(id)) }
                if message.reset == true {
                    await running.end()
                    await chain.reset()
                }
                return (WireMessage().data(), nil)
            }
            var request = try self.request(wire, body)
            received = request
            request.responseDelivery = streamed ? .streamed : .buffered
            // The near end decides about these, because it knows which headers belong to which origin.
            (request.redirectPolicy, request.maximumRetries) = (.never, 0)
            let response = try await load(request, wire.id ?? UUID().uuidString)
            var answer = form.message(of: response, to: received)
            if streamed, response.body.buffered == nil {
                (answer.streams, answer.length) = (true, response.body.length)
                return (answer.data(), response)
            }
            return (answer.data(with: try await request.withHTTPErrors { try await response.body.data() }), nil)
        } catch {
            return (await form.data(of: error, to: received), nil)
        }
    }

    private func readMessage(_ data: Data) throws(HTTPError) -> (message: WireMessage, body: Data) {
        do { return try WireMessage.read(data) } catch { throw .malformed(error) }
    }

    private func request(_ wire: WireMessage.Request, _ body: Data) throws(HTTPError) -> HTTPRequest {
        do { return try form.request(wire, body) } catch { throw .malformed(error) }
    }

    private func load(_ request: HTTPRequest, _ id: String) async throws(HTTPError) -> HTTPResponse {
        // The link cancels one request, whether it is loading or its body is being read.
        let link = Autocancel()
        guard running.begin(try Self.checked(id), link) else {
            throw .malformed(WireMessage.Malformed("its id is already in use, or was cancelled"))
                .with(mayHaveBeenSent: true)
        }
        do throws(HTTPError) {
            let response = try await link.load(request, next: chain)
            response.body.onEnd { [running] _ in running.remove(id) }
            return response
        } catch {
            running.remove(id)
            throw error
        }
    }

    private static func checked(_ id: String) throws(HTTPError) -> String {
        guard id.utf8.count <= 100, ASCII.isPrintable(id) else {
            throw .malformed(WireMessage.Malformed("its id must be at most 100 visible ASCII characters"))
        }
        return id
    }

    fileprivate func failure(_ error: any Error, of response: HTTPResponse) async -> Data {
        await form.data(of: HTTPError(error, request: response.request))
    }
}

/// An answer in pieces, which its sequence reads from a closure.
private final class StreamedAnswer: Sendable {
    private enum State {
        case message(Data)
        /// The body, and how many of its bytes have been sent.
        case body(HTTPResponseBody.Iterator, HTTPResponse, count: Int)
    }

    private let server: RelayServer
    /// What follows, or nil after the end and while a piece is being read.
    private let state: Mutex<State?>

    init(_ server: RelayServer, _ message: Data) {
        self.server = server
        state = Mutex(.message(message))
    }

    func next() async -> Data? {
        switch state.withLock({ $0.take() }) {
        case nil: return nil
        case .message(let message):
            let (data, response) = await server.first(of: message, streamed: true)
            if let response { state.withLock { $0 = .body(response.body.makeAsyncIterator(), response, count: 0) } }
            return data
        case .body(var iterator, let response, let count):
            var message = WireMessage()
            do {
                if let piece = try await iterator.next() {
                    state.withLock { [iterator] in $0 = .body(iterator, response, count: count + piece.count) }
                    return message.data(with: piece)
                }
                let trailers = server.form.pairs(of: response.trailers, in: response.request)
                message.end = WireMessage.End(count: count, trailers: trailers)
                return message.data()
            } catch {
                return await server.failure(error, of: response)
            }
        }
    }
}

/// The requests in progress by their ids, and the ids that ended last. Copies of a server share it.
private final class RunningRelays: Sendable {
    private struct State {
        var links: [String: Autocancel] = [:]
        /// The oldest first. An id stays in use after its request, because a message may be delivered twice.
        var ended: [String] = []

        mutating func note(_ id: String) {
            if ended.count == 1024 { ended.removeFirst() }
            ended.append(id)
        }
    }

    private let state = Mutex(State())

    /// Returns false if a request with this id is in progress or has ended recently.
    func begin(_ id: String, _ link: Autocancel) -> Bool {
        state.withLock { state in
            guard state.links[id] == nil, !state.ended.contains(id) else { return false }
            state.links[id] = link
            return true
        }
    }

    func remove(_ id: String) {
        state.withLock { state in
            state.links[id] = nil
            state.note(id)
        }
    }

    /// Cancels one request, or all at once, and returns when they have ended. If the cancellation arrives before its
    /// request, the request won't begin.
    func end(_ id: String? = nil) async {
        let ended = state.withLock { state in
            guard let id else { return Array(state.links.values) }
            if state.links[id] == nil, !state.ended.contains(id) { state.note(id) }
            return [state.links[id]].compactMap(\.self)
        }
        await withTaskGroup(of: Void.self) { group in
            for link in ended {
                group.addTask { await link.reset(next: AnyLoader { throw HTTPError(.resetInProgress, request: $0) }) }
            }
        }
    }
}

private struct ClientLoader: HTTPLoader {
    let client: HTTPClient

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var open = request
        // The near end judges the status, after its own links have seen the response.
        open.acceptedStatuses = .any
        do throws(HTTPError) {
            return try await request.withHTTPErrors { [open] in try await client.send(open) }
        } catch {
            // A validator must not hide a status if the near end retries because of it.
            guard error.code == .validationFailed, let response = error.response, !request.accepts(response.status)
            else { throw error }
            return response
        }
    }

    func reset() async { await client.reset() }
}

extension HTTPError {
    /// The error for a message that isn't a request. Nothing was sent.
    fileprivate static func malformed(_ error: any Error) -> HTTPError {
        HTTPError(.invalidRequest, request: HTTPRequest(), message: "the message is refused: \(summary(of: error))")
    }
}
