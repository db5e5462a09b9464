// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// An access key for AWS, or for a store that uses the AWS protocol.
public struct AWSCredentials: Sendable {
    /// The identifier of the key. Each request contains it.
    public let accessKey: String
    /// The secret that signatures are computed with. It is never sent.
    public let secretKey: Secret
    /// The token that belongs to temporary credentials, or nil for permanent ones.
    public let sessionToken: Secret?
    /// When the credentials expire, or nil if they don't expire.
    public let expiresAt: Date?

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - accessKey: the identifier, which each request contains.
    ///   - secretKey: the secret. It is never sent.
    ///   - sessionToken: the token that belongs to temporary credentials. Default: nil (permanent credentials).
    ///   - expiresAt: when the credentials expire. The signer loads new ones from its provider five minutes earlier.
    ///     Default: nil (they don't expire).
    public init(accessKey: String, secretKey: Secret, sessionToken: Secret? = nil, expiresAt: Date? = nil) {
        (self.accessKey, self.secretKey, self.sessionToken) = (accessKey, secretKey, sessionToken)
        self.expiresAt = expiresAt
    }
}

extension AWSCredentials {
    /// Reads the output of a credential process, the program that a profile lists as `credential_process`. This
    /// initializer doesn't start the program: start it in a ``Provider`` closure.
    ///
    /// - Throws: `HTTPAuthentication.Failure` if the output doesn't have the format. The error doesn't contain the
    ///   output.
    public init(processOutput data: Data) throws {
        let members = (try? JSONDecoder().value(of: [String: JSONValue].self, from: data)) ?? [:]
        guard members["Version"] == .int(1), let key = members["AccessKeyId"]?.string,
            let secret = members["SecretAccessKey"]?.string
        else {
            let rule = "the output of the credential process has no Version 1, AccessKeyId or SecretAccessKey"
            throw Failure(.noCredentials, rule)
        }
        let text = members["Expiration"]?.string
        let end = text.flatMap { try? Date($0, strategy: .iso8601) }
        guard (text == nil) == (end == nil) else {
            throw Failure(.noCredentials, "the credential process returned an Expiration that is not an ISO 8601 date")
        }
        self.init(
            accessKey: key, secretKey: Secret(secret),
            sessionToken: members["SessionToken"]?.string.map { Secret($0) }, expiresAt: end)
    }
}

extension AWSCredentials {
    /// Provides credentials for a signer. The signer keeps them until they expire or a server refuses them.
    ///
    /// Concurrent requests share one load. In the last five minutes before the expiry, requests still use the old
    /// credentials, while new ones are loaded in the background.
    public struct Provider: Sendable {
        let load: @Sendable () async throws -> AWSCredentials

        /// Obtains credentials with a closure, for example from a metadata service or a vault. The closure must not
        /// send requests that the same signer signs.
        public init(_ load: @escaping @Sendable () async throws -> AWSCredentials) { self.load = load }
    }
}

extension AWSCredentials.Provider {
    /// Always provides the same credentials.
    public static func fixed(_ credentials: AWSCredentials) -> Self { Self { credentials } }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and optionally `AWS_SESSION_TOKEN` from the process
    /// environment. If one of the first two is missing, requests fail with `.cannotAuthenticate`. In a set-user-ID
    /// program, all three are ignored.
    public static var environment: Self {
        Self { try credentials(ProcessInfo.trustedVariables, in: "the environment") }
    }

    /// Reads a profile from the shared credentials file. Config files with other sources aren't supported, and no
    /// process is started. For a `credential_process`, see ``AWSCredentials/init(processOutput:)``.
    ///
    /// - Parameters:
    ///   - name: the section name. Default: `AWS_PROFILE`, or else `default`.
    ///   - file: the file. It is refused if other users can write it. Default: `AWS_SHARED_CREDENTIALS_FILE`, or else
    ///     `~/.aws/credentials`.
    public static func profile(_ name: String? = nil, file: URL? = nil) -> Self {
        let variables = ProcessInfo.trustedVariables
        let name = name ?? variables["AWS_PROFILE"] ?? "default"
        let path = variables["AWS_SHARED_CREDENTIALS_FILE"] ?? (variables["HOME"] ?? "") + "/.aws/credentials"
        let url = file ?? URL(filePath: path)
        return Self {
            guard let data = try PrivateFile.read(url, upTo: 1 << 20) else {
                throw Failure(
                    .noCredentials,
                    "the shared AWS credentials file does not exist (create it, or set AWS_SHARED_CREDENTIALS_FILE)")
            }
            // Editors on Windows write a byte order mark.
            let text = String(
                decoding: data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data, as: UTF8.self)
            return try credentials(section(name, of: text), in: "the profile \"\(name)\"")
        }
    }

    /// Returns the members of all sections with this name.
    static func section(_ name: String, of text: String) -> [String: String] {
        var members: [String: String] = [:]
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline).map({ ASCII.trimmed($0) }) {
            if line.begins(with: "["), let end = line.cut(at: "]") {
                isInside = ASCII.trimmed(end.head.dropFirst()).isSame(as: name)
            } else if isInside, !line.begins(with: "#"), !line.begins(with: ";"), let pair = line.cut(at: "=") {
                members[ASCII.uppercased(ASCII.trimmed(pair.head))] = ASCII.trimmed(pair.tail)
            }
        }
        return members
    }

    static func credentials(_ members: [String: String], in place: String) throws -> AWSCredentials {
        func value(_ name: String) throws -> String {
            if let text = members[name], !text.isEmpty { return text }
            throw Failure(.noCredentials, "\(place) has no \(name)")
        }
        return AWSCredentials(
            accessKey: try value("AWS_ACCESS_KEY_ID"), secretKey: Secret(try value("AWS_SECRET_ACCESS_KEY")),
            sessionToken: (try? value("AWS_SESSION_TOKEN")).map { Secret($0) })
    }
}

/// The state that a signer keeps between requests. Copies of a signer share the credentials, the daily signing key and
/// the known server clocks.
final class AWSState: Sendable {
    private struct Kept {
        var credentials: AWSCredentials?
        var key: (scope: String, secret: Secret, bytes: [UInt8])?
        /// How many seconds the clock of an origin is ahead of this device.
        var offsets: [HTTPOrigin: TimeInterval] = [:]
        /// The last timestamp as text. It is reused within the same second, because formatting takes longer than
        /// signing.
        var time: (seconds: Double, text: String)?
        /// When the credentials were last dropped after a refusal without a reason.
        var refused = Date.distantPast
        /// When credentials were last loaded before the kept ones expired.
        var loadedEarly = Date.distantPast
    }

    private let provider: AWSCredentials.Provider
    private let now: @Sendable () -> Date
    private let kept = Mutex(Kept())
    private let loads = Flights<Int, Result<AWSCredentials, any Error>>()

    init(_ provider: AWSCredentials.Provider, now: @escaping @Sendable () -> Date) {
        (self.provider, self.now) = (provider, now)
    }

    /// Returns the current time at an origin, or the device time if the clock of the origin isn't known.
    func date(at origin: HTTPOrigin?) -> Date {
        now().addingTimeInterval(kept.withLock { kept in origin.flatMap { kept.offsets[$0] } ?? 0 })
    }

    /// Returns the current time at an origin in the form `20260131T080000Z`.
    func time(at origin: HTTPOrigin?) throws(Failure) -> String {
        if let text = text(of: date(at: origin)) { return text }
        // The date may be out of range only because of the offset, so the offset is dropped.
        if let origin { kept.withLock { $0.offsets[origin] = nil } }
        guard let text = text(of: now()) else {
            throw Failure(.misconfigured, "the signing date is outside the years 0 to 9999")
        }
        return text
    }

    private func text(of date: Date) -> String? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        if let time = kept.withLock({ $0.time }), time.seconds == seconds { return time.text }
        let text = Date(timeIntervalSince1970: seconds).internetTime?.filter { $0 != "-" && $0 != ":" }
        if let text { kept.withLock { $0.time = (seconds, text) } }
        return text
    }

    func credentials(for request: HTTPRequest) async throws -> AWSCredentials {
        let date = date(at: request.origin)
        if let last = kept(for: 0, from: date) {
            // This load is separate from the load that requests without credentials wait for. If it hangs, it doesn't
            // block them forever.
            if kept(for: 300, from: date) == nil, mayLoadEarly(at: date) {
                loads.start(1) { [self] in await load(at: date) }
            }
            return last
        }
        let ticket = loads.join(0) { [self] in await load(at: date) }
        switch await loads.outcome(for: ticket, within: request.timeLeft, on: ContinuousClock()) {
        case .value(.success(let credentials)): return credentials
        case .value(.failure(let error)):
            let rule = "could not obtain credentials: \(HTTPError.summary(of: error))"
            throw HTTPError(
                .cannotAuthenticate, request: request, underlying: error, message: rule, mayHaveBeenSent: false)
        case .late: throw request.deadlinePassed(while: "waiting for credentials")
        case .cancelled, .reset: throw CancellationError()
        }
    }

    /// Whether the last early load was at least 30 seconds ago. It may have failed, or returned the same credentials.
    private func mayLoadEarly(at date: Date) -> Bool {
        kept.withLock { kept in
            guard abs(date.timeIntervalSince(kept.loadedEarly)) >= 30 else { return false }
            kept.loadedEarly = date
            return true
        }
    }

    /// Returns the kept credentials if they last longer than a number of seconds.
    private func kept(for seconds: TimeInterval, from date: Date) -> AWSCredentials? {
        let credentials = kept.withLock { $0.credentials }
        return credentials?.expiresAt.map { $0.timeIntervalSince(date) > seconds } ?? true ? credentials : nil
    }

    private func load(at date: Date) async -> Result<AWSCredentials, any Error> {
        // An earlier load may have ended after the caller looked for credentials and before this load began.
        if let fresh = kept(for: 300, from: date) { return .success(fresh) }
        do {
            let credentials = try await provider.load()
            // A reset cancels a load. Its credentials must not be kept, because the next user would receive them.
            kept.withLock { if !Task.isCancelled { $0.credentials = credentials } }
            return .success(credentials)
        } catch { return .failure(error) }
    }

    /// Returns the signing key for a day, a region and a service.
    func key(_ scope: String, _ secret: Secret) -> [UInt8] {
        kept.withLock { kept in
            if let key = kept.key, key.scope == scope, key.secret == secret { return key.bytes }
            let start = Array(("AWS4" + secret.reveal()).utf8)
            let bytes = scope.split(at: "/").reduce(start) { HMAC.sha256(String($1), key: $0) }
            kept.key = (scope, secret, bytes)
            return bytes
        }
    }

    /// Reads what a refusal tells about the server clock and about the credentials. Returns whether the signature
    /// should be computed once more with the server time.
    ///
    /// The server time is used if it differs from the time in the signature by more than four minutes (AWS accepts
    /// five) and from this device by at most a day. A larger difference isn't a wrong clock. The time in a response
    /// from a cache (`Age`) is ignored, because it may be older than the request.
    ///
    /// If the service refuses the kept credentials, they are dropped, and the next request loads new ones. If a late
    /// refusal is for earlier credentials, the current ones are kept.
    func learn(from response: HTTPResponse) -> Bool {
        guard [400, 401, 403].contains(response.status.code) else { return false }
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        if !response.headers.contains(.age), let origin = response.request.origin,
            let signed = response.request.headers["X-Amz-Date"].flatMap({ try? style.parse($0) }),
            let served = response.headers.date(of: .date), abs(served.timeIntervalSince(signed)) > 240,
            abs(served.timeIntervalSince(now())) <= 86_400
        {
            let offset = served.timeIntervalSince(now())
            kept.withLock { kept in
                if kept.offsets.count >= 1_000 { kept.offsets = [:] }
                kept.offsets[origin] = offset
            }
            return true
        }
        let body = response.body.buffered.map { String(decoding: $0.prefix(4_096), as: UTF8.self) }
        let reason = (response.headers["X-Amzn-ErrorType"] ?? "") + (body ?? "")
        let (signature, now) = (response.request.headers[.authorization] ?? "", now())
        kept.withLock { kept in
            guard let key = kept.credentials?.accessKey, signature.holds(" Credential=\(key)/") else { return }
            // The response to a HEAD or to a streamed request has no text with the reason. The reason may be a missing
            // permission, so such a refusal reloads the credentials at most once a minute.
            let isUnexplained = reason.isEmpty && now.timeIntervalSince(kept.refused) > 60
            if isUnexplained { kept.refused = now }
            if isUnexplained || Self.codes.contains(where: reason.holds) { kept.credentials = nil }
        }
        return false
    }

    /// The error codes that refuse the credentials, and not a permission. The first one also matches
    /// `ExpiredTokenException`.
    private static let codes = [
        "ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "InvalidClientTokenId", "UnrecognizedClientException",
        "AuthFailure", "RequestExpired",
    ]

    func reset() {
        loads.reset()
        kept.withLock { $0 = Kept() }
    }
}
