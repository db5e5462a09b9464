// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead
import Synchronization

/// Records real responses in a file, and replays them in tests without a network.
///
/// ```swift
/// let cassette = try Cassette(forTest: #function, in: #filePath, mode: .environment(default: .once))
/// let client = HTTPClient(environment: .staging, attemptLinks: cassette.link)
/// let user = try await client.send(GetUser(login: "ada"))
/// try cassette.save()
/// ```
///
/// In this example, the first run records, and later runs replay. Keep the file in the repository, next to the tests.
/// It's an HTTP Archive (HAR 1.2), so you can also replay an archive that a browser has exported.
///
/// ## Recording
///
/// ``link`` passes requests on and records the responses, and ``save()`` writes the file. Place the link in
/// `attemptLinks` to record each attempt and each redirect. In `links`, it records only the last response. For a
/// streamed body, the cassette also records the pieces and the pauses between them.
///
/// The cassette removes secrets before it records a message:
///
/// - all `Set-Cookie` values
/// - headers, query items, form fields, multipart parts and JSON members with a name that is secret according to
///   `Redaction`
///
/// A secret string becomes `REDACTED`, and a secret number becomes 0. ``audit()`` searches for values that look like
/// secrets although their names aren't secret.
///
/// ## Replaying
///
/// ``loader`` is a transport that replays. ``link`` replays, too, and doesn't call the next loader then.
///
/// - A request matches an entry with the same method, URL and body. Secret values are ignored. To change these rules,
///   pass a ``Matching``.
/// - If several entries match, the first unused one responds. Each entry is used once.
/// - If no entry matches, the request fails with `.unexpectedRequest`. The error names the nearest entry and how it
///   differs. In a mode that records, ``link`` sends the request instead.
public final class Cassette: Sendable {
    // This type is a class because the link, the loader and the test share one recording.

    /// Determines whether a cassette records or replays.
    public enum Mode: String, Sendable, CaseIterable {
        /// Sends all requests and records the responses. ``Cassette/save()`` replaces the file.
        case record
        /// Responds from the file only. Creating the cassette throws an error if the file does not exist.
        case replay
        /// Replays if the file exists, and records otherwise.
        case once
        /// Replays the entries in the file. A request without an entry is sent, and its response is recorded.
        case newEpisodes

        /// Reads the mode from an environment variable, which contains `record`, `replay`, `once` or `newEpisodes`.
        ///
        /// In continuous integration, set the variable to `replay`, so that no test uses the network.
        ///
        /// - Parameters:
        ///   - name: the variable name. Default: `LETTERHEAD_CASSETTES`.
        ///   - standard: the mode if the variable isn't set or is empty.
        /// - Throws: an error that lists the modes if the variable has a different value.
        public static func environment(_ name: String = "LETTERHEAD_CASSETTES", default standard: Mode) throws -> Mode {
            guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return standard }
            guard let mode = Mode(rawValue: text) else {
                let modes = allCases.map(\.rawValue).joined(separator: ", ")
                throw RecordingError("\(name) is \"\(text)\", but the modes of a cassette are \(modes)")
            }
            return mode
        }
    }

    struct State {
        /// The entries that this cassette has recorded, in the order of their requests. They aren't replayed. An entry
        /// is nil until its response is complete.
        var new: [HAR.Entry?] = []
        /// The indices of replayed entries.
        var used: Set<Int> = []
        /// The secrets in the paths of recorded requests.
        var values: Set<Secret> = []
        /// The messages for the first requests without an entry.
        var refused: [String] = []
    }

    /// The file with the archive.
    public let file: URL
    let records: Bool
    let replays: Bool
    let matching: Matching
    let paths: [JSONPath]
    let redaction: ArchiveRedaction
    let clock: any Clock<Duration>
    let timeline: Timeline
    /// The entries in the file, each with the parts that are compared.
    let recorded: [(entry: HAR.Entry, key: CassetteKey)]
    /// Whether a flight recorder has written the file.
    let isFlight: Bool
    let state = Mutex(State())

    /// Opens a cassette.
    ///
    /// - Parameters:
    ///   - file: the archive, usually with the extension `har`.
    ///   - mode: whether to record or to replay.
    ///   - matching: the rules for replaying. Default: the method, the URL and the body must be equal.
    ///   - redaction: the secret names. Default: the standard names.
    ///   - clock: measures the pauses between pieces and the timeouts of replayed requests. The client measures
    ///     deadlines. Default: the continuous clock.
    /// - Throws: an error if the file must exist and does not, if it is not an archive, or if `matching` has a
    ///   malformed path.
    public init(
        _ file: URL, mode: Mode, matching: Matching = Matching(), redaction: Redaction = .standard,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        // Reading a pipe would wait for the process at its other end, and saving the cassette would replace the pipe.
        let name = "the cassette \(file.path)"
        do throws(PrivateFile.Failure) { try PrivateFile.checkPlace(file) } catch {
            throw RecordingError("\(name) \(error.rule)")
        }
        let exists = FileManager.default.fileExists(atPath: file.path)
        if mode == .replay, !exists {
            throw RecordingError("\(name) does not exist: record it with mode .record")
        }
        self.file = file
        let paths = try matching.ignoredJSONPaths.map { try JSONPath($0) }
        let redaction = ArchiveRedaction(names: redaction)
        (self.matching, self.paths, self.redaction) = (matching, paths, redaction)
        records = mode == .record || mode == .newEpisodes || mode == .once && !exists
        replays = exists && mode != .record
        let log = replays ? try HAR(file, name: name).log : HAR.Log()
        recorded = log.entries.map { ($0, CassetteKey($0.request, matching, ignoring: paths, redaction)) }
        isFlight = log._flight != nil
        (self.clock, timeline) = (clock, Timeline(clock))
    }

    /// Opens the cassette for one test, which is the file `Cassettes/FILE/TEST.har` next to the test file.
    ///
    /// - Parameters:
    ///   - test: the test name. Default: the calling function.
    ///   - source: the source file path. Default: the calling file.
    ///   - mode: whether to record or to replay.
    ///   - matching: the rules for replaying. Default: the method, the URL and the body must be equal.
    ///   - redaction: the secret names. Default: the standard names.
    ///   - clock: measures the pauses between pieces and the timeouts of replayed requests. The client measures
    ///     deadlines. Default: the continuous clock.
    /// - Throws: an error if the file must exist and does not, or if it is not an archive.
    public convenience init(
        forTest test: String = #function, in source: String = #filePath, mode: Mode, matching: Matching = Matching(),
        redaction: Redaction = .standard, clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        let file = TestFile.url(in: "Cassettes", test: test, source: source, extension: "har")
        try self.init(file, mode: mode, matching: matching, redaction: redaction, clock: clock)
    }

    /// Opens a file from a `FlightRecorder` to replay what it recorded.
    ///
    /// Each exchange responds or fails after the recorded wait. If a connection was lost, it's lost at the same byte.
    ///
    /// ```swift
    /// let clock = TestClock()
    /// let cassette = try Cassette(flight: file, clock: clock)
    /// let client = HTTPClient(environment: .production, transport: cassette.loader)
    /// let receipt = try await clock.run { try await client.send(payment) }
    /// ```
    ///
    /// The waits take no time if the test clock runs, as in this example and with the trait `.replaying` of
    /// LetterheadTestingSupport. The recorder has removed the secrets, so they aren't compared. If the recorder has not
    /// kept a response body, the request for it fails.
    ///
    /// - Parameters:
    ///   - flight: the file from the recorder. Any other archive is replayed without waits and failures.
    ///   - matching: the rules for replaying. Default: the method, the URL and the body must be equal.
    ///   - redaction: the secret names. Pass the same names as to `dump`. Default: the standard names.
    ///   - clock: measures the waits and the request timeouts.
    /// - Throws: an error if the file doesn't exist, or if it is not an archive.
    public convenience init(
        flight: URL, matching: Matching = Matching(), redaction: Redaction = .standard, clock: any Clock<Duration>
    ) throws {
        try self.init(flight, mode: .replay, matching: matching, redaction: redaction, clock: clock)
    }

    /// Throws an error if a request had no entry with a response. Call it at the end of a test.
    ///
    /// Such a request fails as well, but the code under test may have caught its error.
    ///
    /// - Throws: an error that lists each request without an entry, with the differences from the nearest entry, and
    ///   each response that can't be replayed.
    public func verify() throws {
        let refused = state.withLock { $0.refused }
        guard !refused.isEmpty else { return }
        throw RecordingError(refused.joined(separator: "\n"))
    }

    /// A transport that replays the cassette. It never records, so a request without an entry fails in every mode. To
    /// record, use ``link``.
    public var loader: any HTTPLoader {
        CassetteLink(cassette: self) --> AnyLoader { [self] request in throw await mismatch(of: request) }
    }

    /// A link that records responses from the next loader, or replays recorded ones without calling it.
    public var link: any LoaderLink { CassetteLink(cassette: self) }

    /// The number of entries in the file that no request has used. At the end of a test, check that it is zero to find
    /// requests that your code no longer sends.
    public var unused: Int { state.withLock { recorded.count - $0.used.count } }

    /// The entries with a complete response: those in the file, and then the new ones.
    private var archive: HAR {
        var archive = HAR()
        archive.log.entries = recorded.map(\.entry) + state.withLock { $0.new.compactMap(\.self) }
        return archive
    }

    /// The responses with a complete body, and the bodies of their requests. A response is left out if its body is
    /// missing, as in some archives from browsers.
    package var responses: [(response: HTTPResponse, sent: Data?, template: String?, route: String?)] {
        archive.log.entries.compactMap { entry in
            let content = entry.response.content
            guard entry.response.status >= 100, entry.gap == nil, content?._truncated != true, entry._failure == nil
            else { return nil }
            var request = URL(string: entry.request.url).map { HTTPRequest(url: $0) } ?? HTTPRequest()
            request.method = HTTPMethod(rawValue: entry.request.method)
            var response = entry.response.replayed(to: request)
            response.headers[.contentType] = response.headers[.contentType] ?? content?.mimeType
            return (response, entry.request.postData?.data, entry._template, entry._route)
        }
    }

    /// Writes the file, unless the cassette only replays. Requests in progress aren't included.
    ///
    /// - Throws: an error from the file system.
    public func save() throws {
        guard records else { return }
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try archive.json().write(to: file, options: .atomic)
    }
}

/// The link that records and replays.
private struct CassetteLink: LoaderLink {
    let cassette: Cassette

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        if let response = try await cassette.replay(request) { return response }
        guard cassette.records else { throw await cassette.mismatch(of: request) }
        return try await cassette.record(request, over: next)
    }
}

extension Cassette {
    /// A string in a cassette that is likely to be a secret.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The part of the cassette that contains the string, such as `entry 2, body of the response`.
        public let place: String
        /// The rule that the string matches, such as `JSON Web Token`.
        public let rule: String
        /// The first bytes of the string, and its length.
        public let excerpt: String

        /// The place, the rule and the excerpt on one line.
        public var description: String { "\(place): \(rule) \(excerpt)" }
    }

    /// Searches the cassette for strings that are likely to be secrets.
    ///
    /// Call it in a test, so that no secret is committed: `#expect(cassette.audit().isEmpty)`. If it finds a secret,
    /// add its name to the cassette `redaction`, and record again.
    ///
    /// It finds:
    ///
    /// - tokens and keys in known formats, and private keys
    /// - long random strings
    /// - values that the file still contains although their names are secret
    /// - secrets that are marked in the paths of recorded requests
    ///
    /// - Returns: the findings, entry by entry.
    public func audit() -> [Finding] {
        ArchiveRedaction(names: redaction.names.adding(values: state.withLock { $0.values })).findings(in: archive)
    }
}
