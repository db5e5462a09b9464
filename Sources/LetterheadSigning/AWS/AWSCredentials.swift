// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// An access key of AWS, or of a store that uses its protocol.
public struct AWSCredentials: Sendable {
    public let accessKey: String
    public let secretKey: Secret
    /// The token of temporary credentials.
    public let sessionToken: Secret?
    /// When the credentials expire, or nil if they don't.
    public let expiresAt: Date?

    /// - Parameters:
    ///   - accessKey: the identifier, which each request contains.
    ///   - secretKey: is never sent.
    ///   - sessionToken: the token of temporary credentials. Default: nil.
    ///   - expiresAt: when they expire. A provider is asked again five minutes before. Default: nil (never).
    public init(accessKey: String, secretKey: Secret, sessionToken: Secret? = nil, expiresAt: Date? = nil) {
        (self.accessKey, self.secretKey, self.sessionToken) = (accessKey, secretKey, sessionToken)
        self.expiresAt = expiresAt
    }
}

extension AWSCredentials {
    /// Where a signer's credentials come from. They are kept until they expire, or a server refuses them.
    public struct Provider: Sendable {
        let load: @Sendable () async throws -> AWSCredentials

        /// Obtains credentials with a closure, for example from a metadata service or a vault.
        public init(_ load: @escaping @Sendable () async throws -> AWSCredentials) { self.load = load }
    }
}

extension AWSCredentials.Provider {
    /// Always the same credentials.
    public static func fixed(_ credentials: AWSCredentials) -> Self { Self { credentials } }

    /// The process's environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and optionally `AWS_SESSION_TOKEN`.
    /// Without the first two, requests fail with `.cannotAuthenticate`.
    public static var environment: Self {
        Self { try credentials(ProcessInfo.processInfo.environment, in: "the environment") }
    }

    /// A profile in the shared credentials file. Processes and config files with other sources aren't supported.
    ///
    /// - Parameters:
    ///   - name: the section's name. Default: `AWS_PROFILE`, or else `default`.
    ///   - file: the file. It is refused if other users can write it. Default: `AWS_SHARED_CREDENTIALS_FILE`, or else
    ///     `~/.aws/credentials`.
    public static func profile(_ name: String? = nil, file: URL? = nil) -> Self {
        let variables = ProcessInfo.processInfo.environment
        let name = name ?? variables["AWS_PROFILE"] ?? "default"
        let path = variables["AWS_SHARED_CREDENTIALS_FILE"] ?? (variables["HOME"] ?? "") + "/.aws/credentials"
        let url = file ?? URL(filePath: path)
        return Self {
            guard let data = try PrivateFile.read(url, upTo: 1 << 20) else {
                throw Failure(.noCredentials, "there is no shared credentials file of AWS")
            }
            return try credentials(
                section(name, of: String(decoding: data, as: UTF8.self)), in: "the profile \"\(name)\"")
        }
    }

    /// Returns the members of all sections with a name.
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

/// What a signer keeps between requests: copies of the signer share the credentials, the day's key and the server's
/// time.
final class AWSState: Sendable {
    private struct Kept {
        var credentials: AWSCredentials?
        var key: (scope: String, secret: Secret, bytes: [UInt8])?
        var offset: TimeInterval = 0
        /// The text of the last second, because formatting takes longer than signing.
        var time: (seconds: Double, text: String)?
        /// When a refusal without a reason dropped the credentials.
        var refused = Date.distantPast
    }

    private let provider: AWSCredentials.Provider
    private let now: @Sendable () -> Date
    private let kept = Mutex(Kept())

    init(_ provider: AWSCredentials.Provider, now: @escaping @Sendable () -> Date) {
        (self.provider, self.now) = (provider, now)
    }

    /// The server's time, as far as it is known.
    var date: Date { now().addingTimeInterval(kept.withLock { $0.offset }) }

    /// The time as `20260131T080000Z`.
    func time() throws -> String {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        if let time = kept.withLock({ $0.time }), time.seconds == seconds { return time.text }
        guard let text = Date(timeIntervalSince1970: seconds).internetTime?.filter({ $0 != "-" && $0 != ":" }) else {
            throw Failure(.misconfigured, "the date is not in the years 0 to 9999")
        }
        kept.withLock { $0.time = (seconds, text) }
        return text
    }

    func credentials() async throws -> AWSCredentials {
        let (known, date) = (kept.withLock { $0.credentials }, date)
        if let known, known.expiresAt.map({ $0.timeIntervalSince(date) > 300 }) ?? true { return known }
        let credentials = try await provider.load()
        kept.withLock { $0.credentials = credentials }
        return credentials
    }

    /// Returns the key for a day, a region and a service.
    func key(_ scope: String, _ secret: Secret) -> [UInt8] {
        kept.withLock { kept in
            if let key = kept.key, key.scope == scope, key.secret == secret { return key.bytes }
            let start = Array(("AWS4" + secret.reveal()).utf8)
            let bytes = scope.split(at: "/").reduce(start) { HMAC.sha256(String($1), key: $0) }
            kept.key = (scope, secret, bytes)
            return bytes
        }
    }

    /// Learns the server's time from a refusal, and returns whether it differs from the signature's by more than four
    /// minutes. AWS accepts five. If the service refuses the credentials, they are loaded again for the next request.
    func learn(from response: HTTPResponse) -> Bool {
        guard [400, 401, 403].contains(response.status.code) else { return false }
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        if let signed = response.request.headers["X-Amz-Date"].flatMap({ try? style.parse($0) }),
            let served = response.headers.date(of: .date), abs(served.timeIntervalSince(signed)) > 240
        {
            let offset = served.timeIntervalSince(now())
            kept.withLock { $0.offset = offset }
            return true
        }
        let body = response.body.buffered.map { String(decoding: $0.prefix(4_096), as: UTF8.self) }
        let reason = (response.headers["X-Amzn-ErrorType"] ?? "") + (body ?? "")
        let now = now()
        kept.withLock { kept in
            // A refusal of a HEAD or of a streamed request has no text. Denied requests must not ask the provider each time.
            let isUnexplained = reason.isEmpty && now.timeIntervalSince(kept.refused) > 60
            if isUnexplained { kept.refused = now }
            if isUnexplained || Self.codes.contains(where: reason.holds) { kept.credentials = nil }
        }
        return false
    }

    /// The errors that refuse credentials, and not what they may do: `ExpiredTokenException` begins like the first.
    private static let codes = [
        "ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "InvalidClientTokenId", "UnrecognizedClientException",
        "AuthFailure", "RequestExpired",
    ]

    func reset() { kept.withLock { $0 = Kept() } }
}
