// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// An observer that keeps the latest exchanges of a client in memory, and writes them to a file when a request has
/// failed.
///
/// The file turns a bug report into a failing test: ``Cassette/init(flight:matching:redaction:clock:)`` replays it. The
/// format is HTTP Archive (HAR 1.2), so a browser can show it, too.
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
/// To look at all traffic in a browser, use ``archive(redaction:)``. A recorder with higher limits keeps a whole
/// session:
///
/// ```swift
/// let recorder = FlightRecorder(last: 1_000, bytes: 64 << 20, keepsBinaryBodies: true)
/// …
/// try recorder.archive().write(to: URL(filePath: "session.har"))
/// ```
///
/// ## Secrets and memory
///
/// The recorder is made for production:
///
/// - Before it keeps a message, it removes secret headers, secret values in the query, and bodies that are secret as a
///   whole.
/// - It keeps other bodies by reference and doesn't copy them. The secret values in these bodies, and in URLs in
///   headers, are removed when it writes an archive.
/// - By default, it keeps only bodies of JSON, forms, event streams and plain text.
public final class FlightRecorder: HTTPObserver {
    private let log: Mutex<FlightLog>
    private let bodies: FlightMessage.Limits
    private let now: @Sendable () -> Date

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - last: how many exchanges to keep, from 1 to 10,000. A number outside this range counts as the nearest bound.
    ///     Default: 50.
    ///   - bytes: the memory for messages and events. The minimum is 65,536 bytes. If the memory is used up, the oldest
    ///     load is removed first. Default: 4 MiB.
    ///   - bodyLimit: the maximum size of a body to keep. If a streamed body is larger, its beginning is kept. Any
    ///     other larger body is not kept. With 0, no bodies are kept. Default: nil (an eighth of `bytes`, which is also
    ///     the maximum).
    ///   - keepsBinaryBodies: whether to keep bodies of other types, too, such as XML, HTML and images. Their secrets
    ///     aren't removed, and only the audit searches for them. Compressed bodies are never kept. Default: false.
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
        // Each piece of a body also arrives as a message with its bytes, so the event isn't kept.
        if event.name != .bodyPiece { log.withLock { $0.add(event) } }
    }

    /// The number of exchanges that the recorder keeps now.
    public var count: Int { log.withLock { $0.loads.values.reduce(0) { $0 + $1.exchanges.count } } }

    /// Removes everything that the recorder keeps.
    public func removeAll() {
        log.withLock { $0 = FlightLog(mostExchanges: $0.mostExchanges, mostBytes: $0.mostBytes) }
    }

    /// Returns an archive with everything that the recorder keeps, in the format HAR 1.2.
    ///
    /// The archive has an entry for each exchange: each attempt, each redirect and each request for a token. The
    /// recorder doesn't audit it. Before you send the archive to someone, check it, or let ``Cassette/audit()`` search
    /// for values that look like secrets.
    ///
    /// - Parameter redaction: names of secret values, in addition to the names that each request declares. Default: the
    ///   standard names.
    /// - Throws: an `EncodingError` if a string can't be encoded.
    public func archive(redaction: Redaction = .standard) throws -> Data {
        let log = log.withLock { $0 }
        return try HAR(log, log.redaction(redaction)).json()
    }

    /// Writes an archive that contains a failed load and the loads that can explain it.
    ///
    /// These are the other loads:
    ///
    /// - loads that ran at the same time
    /// - loads that were sent on behalf of the failed one, such as a request for a token
    /// - earlier loads of the same operation
    ///
    /// Loads belong to one operation if they have the same trace, which `TraceContextPropagation` and tracing adapters
    /// set, or if their requests have the same `X-Correlation-ID` or `X-Request-ID`. To send such a header, derive a
    /// client for the operation: `client.header("X-Correlation-ID", id)`.
    ///
    /// The archive has an entry for each exchange: each attempt, each redirect and each request for a token. The member
    /// `_flight` describes each load: its template and route, its settings, its result and its events.
    ///
    /// If the recorder doesn't know the error, for example because your code has thrown a different error than the
    /// client, the archive contains everything that the recorder keeps.
    ///
    /// Before writing the file, the recorder searches the archive for values that look like secrets, as
    /// ``Cassette/audit()`` does.
    ///
    /// - Parameters:
    ///   - error: the error that the client has thrown.
    ///   - folder: the folder for the file. It's created if it doesn't exist. Only the current user can read the file.
    ///   - redaction: names of secret values, in addition to the names that each request declares. Default: the
    ///     standard names.
    /// - Returns: the file URL. Its name consists of `flight-`, the date in seconds since 1970, a random text, and
    ///   `.har`.
    /// - Throws: an error that names each field with a value that looks like a secret. In this case, no file is
    ///   written: add the field names to `redaction`, and call the method again. Also an error from the file system.
    public func dump(around error: any Error, to folder: URL, redaction: Redaction = .standard) throws -> URL {
        // If only a part of a response has arrived, only the error contains that part.
        let partial = (error as? HTTPError)?.response.map { FlightMessage($0, bodies) }
        let log = log.withLock { $0 }
        let all = log.redaction(redaction).adding((error as? HTTPError)?.request.redaction ?? redaction)
        let archive = HAR(log, around: error, partial: partial, all)
        let findings = all.findings(in: archive)
        guard findings.isEmpty else {
            let places = findings.prefix(5).map { "\($0.place) (\($0.rule))" }.joined(separator: ", ")
            throw RecordingError(
                "no recording was written, because values look like secrets (add the names to redaction): \(places)"
            )
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
            // Bodies are encoded outside the lock.
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
