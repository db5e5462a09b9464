// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Shares one load among equal requests that are in flight at the same time.
///
/// ```swift
/// let client = HTTPClient(environment: .production, attemptLinks: Deduplicate() --> Throttle(limit: 4))
/// ```
///
/// Use it if several parts of a program request the same resource at the same time. No response is stored after the
/// load has ended: to reuse responses later, use a cache.
///
/// ## Choose which requests share a load
///
/// By default, requests are equal according to ``Deduplicate/Settings/automatic``. A request can choose otherwise:
///
/// ```swift
/// request.deduplication = .never           // never share
/// request.deduplication = .key("settings") // share by key
/// ```
///
/// Headers in `ignoring` may differ. Secret headers are always compared: headers with a secret name (see
/// ``Redaction``), and headers set by ``HTTPHeaders/setSecret(_:for:)``.
///
/// ## What the requests receive
///
/// - In the response to each request, ``HTTPResponse/request`` is this request, and ``HTTPResponse/sharedFrom``
///   identifies the request that was sent.
/// - Failures are shared. Streamed bodies are not shared.
/// - A request stops waiting when its own task is cancelled or its own deadline passes. When no request waits for the
///   load any longer, the load is cancelled.
///
/// ## Choose the position
///
/// Put it below all links that change requests, so that it compares what is sent: below redirects, environment and
/// authentication. Above an authentication with ``HTTPAuthentication/bearer(each:allowedOrigins:)``, equal requests
/// wait for the first one and are then sent themselves.
public final class Deduplicate: LoaderLink {
    private let loads = Flights<DeduplicationKey, Result<HTTPResponse, HTTPError>>()
    private let ignored: Set<HTTPHeaders.Name>
    private let clock: any Clock<Duration>

    /// Creates a link.
    ///
    /// - Parameters:
    ///   - ignored: headers that aren't compared unless they are secret, such as one with a new value in each request.
    ///     Default: empty.
    ///   - clock: measures the deadlines of waiting requests. Default: the continuous clock.
    public init(ignoring ignored: Set<HTTPHeaders.Name> = [], clock: any Clock<Duration> = ContinuousClock()) {
        self.ignored = ignored
        self.clock = clock
    }

    /// The number of loads in flight.
    public var running: Int { loads.running }

    /// The number of requests that wait for these loads, including the requests that started them.
    public var waiting: Int { loads.waiting }

    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        if let key = DeduplicationKey(request, ignoring: ignored),
            let response = try await sharedResponse(to: request, key, next: next)
        {
            return response
        }
        return try await next.load(request)
    }

    /// Returns the response to a load that equal requests share. Nil if only the first request can read it or may see
    /// it.
    ///
    /// If only the first request can read the response, this copy of it is released before the other requests are sent,
    /// because its body may occupy a slot or a connection.
    private func sharedResponse(
        to request: HTTPRequest, _ key: DeduplicationKey, next: any HTTPLoader
    ) async throws(HTTPError) -> HTTPResponse? {
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        let left = request.timeLeft
        if let left, left <= .zero { throw request.deadlinePassed(while: Self.phase, mayHaveBeenSent: false) }
        // The load has no deadline, because each waiting request has its own.
        let load = loads.join(key) { [sent = request.withoutDeadline] in
            sent.observation?.record(.deduplicationLed)
            return await next.result(of: sent)
        }
        if !load.isFirst { request.observation?.record(.deduplicationJoined) }
        switch await loads.outcome(for: load, within: left, on: clock) {
        case .cancelled: throw HTTPError(.cancelled, request: request)
        case .reset: throw request.resetError("the chain was reset")
        case .late: throw request.deadlinePassed(while: Self.phase)
        // A closure below has returned a token, perhaps of a different user. If the caller sets a key, the key
        // identifies the user.
        case .value(let led)
        where !load.isFirst && request.deduplication == .automatic && led.request.loadValues[option: SignedForOne.self]
            && request.headers[.authorization].map { $0 == led.request.headers[.authorization] } != true:
            return nil
        case .value(.failure(let error)): throw error.with(request: request)
        case .value(.success(var response)):
            if load.isFirst {
                if request.hasDeadline { response.request.inheritDeadline(from: request) }
                return response
            }
            // A streamed body can be read only once.
            return response.body.buffered == nil ? nil : shared(response, with: request)
        }
    }

    /// Cancels the running loads that must end at this reset, and resets the links below. Loads of other clients
    /// continue.
    public func reset(next: any HTTPLoader) async {
        loads.reset { $0.request.endsAtReset() }
        await next.reset()
    }

    private static let phase = "waiting for an equal request"

    private func shared(_ response: HTTPResponse, with request: HTTPRequest) -> HTTPResponse {
        if let observation = request.observation {
            observation.record(.deduplicationShared) { $0[.sharedLoad] = response.request.observation?.load }
        }
        var response = response
        response.sharedFrom = response.request.id
        // A link above compares the headers and the query to detect a credential from a link below.
        var sent = request
        (sent.headers, sent.query) = (response.request.headers, response.request.query)
        response.request = sent
        return response
    }
}

extension RequestConfigurable {
    /// Sets ``RequestSettings/deduplication``, which only a ``Deduplicate`` link uses, for example
    /// `.deduplication(.never)`.
    public func deduplication(_ deduplication: Deduplicate.Settings) -> Configured {
        configured { $0.deduplication = deduplication }
    }
}

enum DeduplicationOption: HTTPRequestOption {
    static let defaultOptionValue = Deduplicate.Settings.automatic
}

extension RequestSettings {
    /// Whether the request shares a load with equal requests, and which requests count as equal. Only a ``Deduplicate``
    /// link uses it. Default: ``Deduplicate/Settings/automatic``.
    public var deduplication: Deduplicate.Settings {
        get { self[option: DeduplicationOption.self] }
        set { self[option: DeduplicationOption.self] = newValue }
    }
}

extension Deduplicate {
    /// Chooses whether a request shares a load, and which requests count as equal.
    public struct Settings: Hashable, Sendable {
        enum Kind: Hashable {
            case automatic, never
            case key(String)
        }

        let kind: Kind

        /// Shares a load with equal requests if the method is safe (RFC 9110, 9.2.1), such as GET.
        ///
        /// Requests are equal if they have the same method, URL, headers, body, credentials, timeouts and
        /// ``RequestSettings/responseLimit``. Their deadlines may differ.
        public static let automatic = Deduplicate.Settings(kind: .automatic)

        /// Sends the request itself, even if an equal request is in flight.
        public static let never = Deduplicate.Settings(kind: .never)

        /// Shares a load with requests that have the same key, origin, headers and identity. Method, path and body may
        /// differ.
        ///
        /// The identity consists of every secret query item, the authentication with its scopes, and the environment.
        /// An ignored header (`Deduplicate(ignoring:)`) is compared only if it is secret. The body is compared only if
        /// the request is ``RequestSettings/isSecret``. If the path, a query item that isn't secret or only the body
        /// identifies the user, include the user in the key.
        public static func key(_ key: String) -> Deduplicate.Settings { Deduplicate.Settings(kind: .key(key)) }
    }
}

private enum SharedLoadValue: HTTPRequestOption {
    static let defaultOptionValue: HTTPRequest.ID? = nil
}

extension HTTPResponse {
    /// Identifies the equal request that was sent instead of this one. Nil if this request was sent itself.
    public internal(set) var sharedFrom: HTTPRequest.ID? {
        get { self[option: SharedLoadValue.self] }
        set { self[option: SharedLoadValue.self] = newValue }
    }
}

/// The parts of a request that are compared. The hash value contains only a few of them, because most loads are not
/// shared.
final class DeduplicationKey: Hashable, Sendable {
    let request: HTTPRequest
    private let key: String?
    private let headers: HTTPHeaders
    private let body: Data?
    private let authentication: AuthenticationIdentity?
    /// The identity of a request with a custom key, because the key may not contain it. Without a custom key, it is
    /// nil, because all parts of the request are compared.
    private let identity: RequestIdentity?

    /// Creates the key of a request. Returns nil if the request cannot share a load, for one of these reasons:
    ///
    /// - Its deduplication is ``Deduplicate/Settings/never``.
    /// - Its response is streamed or saved to a file.
    /// - Its body cannot be compared.
    /// - It has no custom key, and its method is not safe.
    init?(_ request: HTTPRequest, ignoring ignored: Set<HTTPHeaders.Name>) {
        guard request.responseDelivery == .buffered, !request.isLiveStream else { return nil }
        switch request.deduplication.kind {
        case .never: return nil
        case .automatic:
            guard request.method.isSafe else { return nil }
            key = nil
        case .key(let own): key = own
        }
        let headers: HTTPHeaders
        // The caller decides what a key covers, but a secret body may contain a password.
        if request.body.isEmpty || key != nil && !request.isSecret {
            (headers, body) = (request.body.isEmpty ? request.framedHeaders() : request.headers, nil)
        } else {
            guard request.body.isReplayable, let data = try? request.body.encode() else { return nil }
            (headers, body) = (request.framedHeaders(), data)
        }
        self.headers =
            ignored.isEmpty
            ? headers : HTTPHeaders(headers.filter { !ignored.contains($0.name) || request.isSecret($0) })
        authentication = request.authentication?.identity
        identity = key == nil ? nil : RequestIdentity(request)
        self.request = request
    }

    func hash(into hasher: inout Hasher) {
        if let key { return hasher.combine(key) }
        hasher.combine(request.host)
        hasher.combine(request.path.string)
        hasher.combine(request.query.count)
    }

    static func == (left: DeduplicationKey, right: DeduplicationKey) -> Bool {
        if left === right { return true }
        guard left.key == right.key, left.identity == right.identity, left.body == right.body,
            left.headers == right.headers, left.hasEqualSigner(right)
        else { return false }
        return left.key != nil || left.hasEqualTarget(right)
    }

    private func hasEqualTarget(_ other: DeduplicationKey) -> Bool {
        let (left, right) = (request, other.request)
        return left.method == right.method && left.path == right.path && left.query == right.query
            && left.scheme == right.scheme && left.host == right.host && left.port == right.port
            && left.userInfo == right.userInfo && left.timeout == right.timeout
            && left.idleTimeout == right.idleTimeout && left.connectTimeout == right.connectTimeout
            && left.responseLimit == right.responseLimit
    }

    /// Whether both requests are signed for the same user, as far as the link knows. Requests of different users never
    /// share, even if the link is above the authentication. Only ``HTTPAuthentication/bearer(each:allowedOrigins:)``
    /// signs later, with a token that may belong to a different user for each request.
    private func hasEqualSigner(_ other: DeduplicationKey) -> Bool {
        let (left, right) = (request, other.request)
        return authentication == other.authentication && left.requiredScopes == right.requiredScopes
            && left.context.generation == right.context.generation && left.additions.isEmpty
            && right.additions.isEmpty
            && left.serverEnvironment == right.serverEnvironment && left.removedHeaders == right.removedHeaders
    }
}
