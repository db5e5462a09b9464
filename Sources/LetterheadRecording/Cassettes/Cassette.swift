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
/// The file is an HTTP Archive (HAR 1.2). You can also replay an archive that a browser has exported. Keep the file in
/// the repository, next to the tests.
///
/// **Recording.** ``link`` passes requests on and records the responses. ``save()`` writes the file. Before it records
/// a message, the cassette removes secrets: every `Set-Cookie` value, and the headers, query items, form fields,
/// multipart parts and JSON members with a secret name according to `Redaction`. A secret string becomes `REDACTED`, a
/// secret number becomes 0. ``audit()`` searches for values that look like secrets although their names aren't secret.
/// For a streamed body, the cassette also records the pieces and the pauses between them.
///
/// **Replaying.** ``loader`` is a transport that replays. ``link`` replays without calling the next loader. A request
/// matches an entry with the same method, URL and body, apart from secret values. ``Matching`` changes these rules.
/// Each entry is used once. If several match, the first unused one responds. A request without an entry fails with
/// `.unexpectedRequest`, except with ``link`` in a mode that records. The error describes the entry that comes closest
/// to a match, and the differences.
///
/// Place the link in `attemptLinks` to record each attempt and each redirect. In `links`, it records only the last
/// response.
public final class Cassette: Sendable {
    // This type is a class because the link, the loader and the test share one recording.

    /// Whether a cassette records or replays.
    public enum Mode: String, Sendable, CaseIterable {
        /// Sends all requests and records the responses. ``Cassette/save()`` replaces the file.
        case record
        /// Responds from the file only. Creating the cassette throws an error if the file does not exist.
        case replay
        /// Replays if the file exists, and records otherwise.
        case once
        /// Replays the entries of the file. A request without an entry is sent, and its response is recorded.
        case newEpisodes

        /// Returns the mode in an environment variable (`record`, `replay`, `once`, `newEpisodes`), or a default if the
        /// variable isn't set or is empty. In continuous integration, set the variable to `replay`, so that no test
        /// uses the network.
        ///
        /// - Parameters:
        ///   - name: the variable's name. Default: `LETTERHEAD_CASSETTES`.
        ///   - standard: the mode if the variable is not set or empty.
        /// - Throws: an error that lists the modes if the variable has another value.
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
        /// What this cassette has recorded. It doesn't replay these entries. An entry is nil until its response is
        /// complete.
        var new: [HAR.Entry?] = []
        /// The positions of the replayed entries.
        var used: Set<Int> = []
        /// The secrets in paths of recorded requests.
        var values: Set<Secret> = []
        /// What was wrong with the first requests without an entry.
        var refused: [String] = []
    }

    /// The cassette's file.
    public let file: URL
    let records: Bool
    let replays: Bool
    let matching: Matching
    let paths: [JSONPath]
    let redaction: ArchiveRedaction
    let clock: any Clock<Duration>
    let timeline: Timeline
    /// The entries of the file, and what is compared of each.
    let recorded: [(entry: HAR.Entry, key: CassetteKey)]
    /// Whether a flight recorder has written the file.
    let isFlight: Bool
    let state = Mutex(State())

    /// Opens a cassette.
    ///
    /// - Parameters:
    ///   - file: the archive, usually with the extension `har`.
    ///   - mode: whether to record or to replay.
    ///   - matching: the rules for replaying. Default: method, URL and body must be equal.
    ///   - redaction: the secret names. Default: the standard names.
    ///   - clock: measures the pauses between pieces and the timeouts of replayed requests. The client measures
    ///     deadlines. Default: the continuous clock.
    /// - Throws: an error if the file must exist and does not, if it is not an archive, or if `matching` has a
    ///   malformed path.
    public init(
        _ file: URL, mode: Mode, matching: Matching = Matching(), redaction: Redaction = .standard,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        // Reading a pipe would wait for its other end, and saving the cassette would replace it.
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

    /// Opens one test's cassette: `Cassettes/FILE/TEST.har` next to the test's source file.
    ///
    /// - Parameters:
    ///   - test: the test's name. Default: the calling function.
    ///   - source: the source file's path. Default: the calling file.
    ///   - mode: whether to record or to replay.
    ///   - matching: the rules for replaying. Default: method, URL and body must be equal.
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

    /// Opens a `FlightRecorder`'s file to replay it: each recorded exchange responds or fails as it did, after the
    /// recorded wait, and a lost connection is lost at the same byte.
    ///
    /// ```swift
    /// let clock = TestClock()
    /// let cassette = try Cassette(flight: file, clock: clock)
    /// let client = HTTPClient(environment: .production, transport: cassette.loader)
    /// let receipt = try await clock.run { try await client.send(payment) }
    /// ```
    ///
    /// Let the test's clock run, as above, and the waits take no time. The trait `.replaying` of
    /// LetterheadTestingSupport does so. The recorder has removed the secrets, so they aren't compared. A response with
    /// a body that the recorder hasn't kept can't be replayed, and its request fails.
    ///
    /// - Parameters:
    ///   - flight: the recorder's file. Any other archive is replayed without waits and failures.
    ///   - matching: the rules for replaying. Default: method, URL and body must be equal.
    ///   - redaction: the secret names. Pass those that you have passed to the recorder's `dump`. Default: the standard
    ///     names.
    ///   - clock: the clock for the waits and the requests' timeouts.
    /// - Throws: an error if the file doesn't exist, or if it is not an archive.
    public convenience init(
        flight: URL, matching: Matching = Matching(), redaction: Redaction = .standard, clock: any Clock<Duration>
    ) throws {
        try self.init(flight, mode: .replay, matching: matching, redaction: redaction, clock: clock)
    }

    /// Checks that each request had an entry with a response. Call it at the end of a test, because the code under test
    /// may have caught the errors.
    ///
    /// - Throws: an error that lists the requests without an entry and their differences from the nearest entries, and
    ///   the responses that can't be replayed.
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

    /// A link that records the next loader's responses, or replays recorded ones without calling it.
    public var link: any LoaderLink { CassetteLink(cassette: self) }

    /// How many entries in the file are unused. Check that it is zero when a test ends.
    public var unused: Int { state.withLock { recorded.count - $0.used.count } }

    /// The entries whose responses are complete.
    private var archive: HAR {
        var archive = HAR()
        archive.log.entries = recorded.map(\.entry) + state.withLock { $0.new.compactMap(\.self) }
        return archive
    }

    /// The responses whose bodies the archive has to their ends, and the bodies of their requests. Browsers leave out
    /// bodies that they no longer have.
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

    /// Writes the file if the mode records. A cassette that only replays writes nothing, and requests in progress
    /// aren't included.
    ///
    /// - Throws: the file system's error.
    public func save() throws {
        guard records else { return }
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try archive.json().write(to: file, options: .atomic)
    }
}

/// The cassette's link.
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
        /// Where the string is, such as `entry 2, body of the response`.
        public let place: String
        /// The rule that the string matches, such as `JSON Web Token`.
        public let rule: String
        /// The string's first bytes and its length.
        public let excerpt: String

        /// The place, the rule and the excerpt on one line.
        public var description: String { "\(place): \(rule) \(excerpt)" }
    }

    /// Searches the cassette for strings that are likely to be secrets: tokens and keys in known formats, private keys,
    /// long random strings, values that are still there although their names are secret, and secrets that the paths of
    /// recorded requests mark.
    ///
    /// Call it in a test, so that no secret is committed: `#expect(cassette.audit().isEmpty)`. If it finds a secret,
    /// add its name to the cassette's `redaction`, and record again.
    ///
    /// - Returns: the findings, entry by entry.
    public func audit() -> [Finding] {
        ArchiveRedaction(names: redaction.names.adding(values: state.withLock { $0.values })).findings(in: archive)
    }
}
