// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// Keep a client's last exchanges in memory, and write them to a file when a request has failed. The file is an HTTP
/// Archive (HAR 1.2), and ``Cassette/init(flight:matching:redaction:clock:)`` replays it: a bug report becomes a
/// failing test.
///
/// ```swift
/// let recorder = FlightRecorder(last: 50, bytes: 4 << 20)
/// let client = HTTPClient(environment: .production, observers: [recorder])
/// do {
///     try await pay(with: client)
/// } catch {
///     print("please send us", try recorder.dump(around: error, to: URL(filePath: "Reports")).path)
/// }
/// ```
///
/// Use ``archive(redaction:)`` to look at all kept traffic in a browser. A recorder with higher limits keeps a whole
/// session:
///
/// ```swift
/// let recorder = FlightRecorder(last: 1_000, bytes: 64 << 20, keepsBinaryBodies: true)
/// …
/// try recorder.archive().write(to: URL(filePath: "session.har"))
/// ```
///
/// The recorder is made for production. It removes secret headers, secret query values of the request URL and whole
/// secret bodies before it keeps a message. It keeps any other body by reference and doesn't copy it. When it writes an
/// archive, it removes the secret values inside such a body, and in URLs in headers. The recorder keeps bodies of JSON,
/// forms, event streams and plain text, and other ones only if you ask for it.
public final class FlightRecorder: HTTPObserver {
    private let log: Mutex<FlightLog>
    private let bodies: FlightMessage.Limits
    private let now: @Sendable () -> Date

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - last: the number of exchanges, from 1 to 10,000. A number outside of this range counts as its nearest bound.
    ///     Default: 50.
    ///   - bytes: the memory for messages and events, at least 65,536 bytes. A smaller number counts as that. If the
    ///     memory is used up, the oldest load goes first. Default: 4 MiB.
    ///   - bodyLimit: the largest body. A larger one is left out, except for the beginning of a streamed body. 0 leaves
    ///     all bodies out. Default: nil (an eighth of `bytes`, which is also the maximum).
    ///   - keepsBinaryBodies: whether bodies of other types are kept, too, such as XML, HTML and images. Only the audit
    ///     searches them for secrets, and a compressed body is never kept. Default: false.
    ///   - now: returns the date for the entries. Default: the system date.
    public init(
        last: Int = 50, bytes: Int = 4 << 20, bodyLimit: Int? = nil, keepsBinaryBodies: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let bytes = max(bytes, 65_536)
        log = Mutex(FlightLog(mostExchanges: min(max(last, 1), 10_000), mostBytes: bytes))
        bodies = (min(bodyLimit ?? .max, bytes / 8), keepsBinaryBodies)
        self.now = now
    }

    public func record(_ event: HTTPEvent) {
        // Pieces come with their bytes.
        if event.name != .bodyPiece { log.withLock { $0.add(event) } }
    }

    /// The number of exchanges that the recorder keeps now.
    public var count: Int { log.withLock { $0.loads.values.reduce(0) { $0 + $1.exchanges.count } } }

    /// Forgets everything.
    public func removeAll() {
        log.withLock { $0 = FlightLog(mostExchanges: $0.mostExchanges, mostBytes: $0.mostBytes) }
    }

    /// Returns an archive with everything that the recorder keeps, in the format HAR 1.2.
    ///
    /// The archive has an entry for each exchange: each attempt, each redirect and each request for a token. It isn't
    /// audited. Before you pass it on, check it, or let ``Cassette/audit()`` search it for values that look like
    /// secrets.
    ///
    /// - Parameter redaction: names of secret values, in addition to those of each request. Default: the standard
    ///   names.
    /// - Throws: an `EncodingError` if a string can't be encoded.
    public func archive(redaction: Redaction = .standard) throws -> Data {
        let log = log.withLock { $0 }
        return try HAR(log, log.redaction(redaction)).json()
    }

    /// Writes an archive with a failed load, with all loads that ran beside it or were sent on its behalf, and with the
    /// earlier ones of its operation.
    ///
    /// Loads belong to one operation if they have the same trace, which `TraceContextPropagation` and tracing adapters
    /// set, or if their requests have the same `X-Correlation-ID` or `X-Request-ID`. Derive a client for an operation
    /// to send such a header: `client.header("X-Correlation-ID", id)`.
    ///
    /// The archive has an entry for each exchange: each attempt, each redirect and each request for a token. The member
    /// `_flight` describes each load: its template and route, its settings, its result and its events. If the recorder
    /// doesn't know the error, for example because your code has thrown another one, the archive contains everything
    /// that the recorder keeps.
    ///
    /// Before it writes the file, this method searches the archive for values that look like secrets, as
    /// ``Cassette/audit()`` does.
    ///
    /// - Parameters:
    ///   - error: the error that a request has thrown.
    ///   - folder: the folder for the file. It's created if it's missing. Only the current user can read the file.
    ///   - redaction: names of secret values, in addition to those of each request. Default: the standard names.
    /// - Returns: the file's URL. The name is `flight-`, the date in seconds since 1970, a random text, and `.har`.
    /// - Throws: an error that names each field with a value that looks like a secret. Nothing is written then: add the
    ///   field's name to `redaction`. Also the file system's errors.
    public func dump(around error: any Error, to folder: URL, redaction: Redaction = .standard) throws -> URL {
        // What has arrived of a response is only in the error.
        let partial = (error as? HTTPError)?.response.map { FlightMessage($0, bodies) }
        let log = log.withLock { $0 }
        let all = log.redaction(redaction).adding((error as? HTTPError)?.request.redaction ?? redaction)
        let archive = HAR(log, around: error, partial: partial, all)
        let findings = all.findings(in: archive)
        guard findings.isEmpty else {
            let places = findings.prefix(5).map { "\($0.place) (\($0.rule))" }.joined(separator: ", ")
            throw RecordingError(
                "the flight was not written, because values look like secrets (add the names to redaction): \(places)")
        }
        let mark = RandomBytes.base64URL(RandomBytes.system(9))
        let file = folder.appendingPathComponent("flight-\(Int(now().timeIntervalSince1970))-\(mark).har")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try PrivateFile(replacing: file).write(archive.json())
        return file
    }
}

extension FlightRecorder: MessageObserver {
    public func record(_ message: ObservedMessage, of event: HTTPEvent) {
        guard let exchange = event[.exchange] else { return }
        switch message {
        case .request(let request):
            // Bodies are encoded outside of the lock.
            let new = FlightLog.Exchange(
                number: exchange, begin: event, id: request.id, date: now(),
                settings: [
                    ("timeout", request.timeout), ("idleTimeout", request.idleTimeout),
                    ("connectTimeout", request.connectTimeout), ("deadline", request.deadline),
                    ("maximumRetries", request.maximumRetries), ("acceptedStatuses", request.acceptedStatuses),
                ], request: FlightMessage(request, bodies))
            log.withLock { $0.add(new, of: event.load) }
        case .response(let response):
            let message = FlightMessage(response, bodies)
            log.withLock { log in log.change(exchange, of: event.load) { $0.response = message } }
        case .piece(let data):
            log.withLock { log in
                log.change(exchange, of: event.load) { $0.response?.append(data, at: event.time, bodies) }
            }
        }
    }
}
