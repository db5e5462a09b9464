// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

extension HTTPAuthentication {
    /// Signs requests with a method that you choose for the challenge in a 401.
    ///
    /// Use it if the server names its token endpoint and the scope in a challenge, as container registries do, or if
    /// you know the server only at run time.
    ///
    /// ```swift
    /// .challenge { challenge, need in
    ///     challenge.hasScheme("Basic") ? .basic(username: "ada", password: password) : nil
    /// }
    /// ```
    ///
    /// 1. The first request is sent without credentials.
    /// 2. After a 401, your closure receives the challenges in order, but Basic last, until it returns a method. If it
    ///    returns nil for all of them, the request fails with `.cannotAuthenticate`.
    /// 3. The method signs the request, which is sent a second time. A request with a one-shot body isn't sent again:
    ///    you receive the 401, and the next request is signed.
    ///
    /// ## Send requests from the closure
    ///
    /// To obtain a token, send requests to `need.next`. `need.request` is the first request that waits, with its
    /// method, URL and `path.route`. `need.previous` is the method that was refused.
    ///
    /// ## When the closure is called
    ///
    /// - Two challenges are equal if they differ only in a nonce or an error description.
    /// - A method signs all requests that receive an equal challenge from the same origin. Concurrent requests wait for
    ///   a single closure call.
    /// - A challenge applies to all requests with the same method and the same path up to the last slash. They are
    ///   signed before they are sent. Other requests are first sent without credentials, and learn their challenge from
    ///   a 401.
    /// - If a signed request receives a 401 with an equal challenge, the closure is called again, and `need.isRefused`
    ///   is true.
    /// - If a signed request receives a different challenge, for example for a further scope, it is sent again with the
    ///   method for that challenge.
    ///
    /// - Parameters:
    ///   - allowedOrigins: where requests are signed (see `HTTPAuthentication`). Without them, the methods are used for
    ///     the first origin only, until a reset. If a method has `allowedOrigins`, these apply as well. To sign over
    ///     http to a different machine, list the origin both here and in the method.
    ///   - limit: the maximum number of calls for equal challenges in a window. A second limit is ten times as high. It
    ///     counts the methods that an origin has refused without a successful request. Once it is reached, the closure
    ///     isn't called for any challenge of that origin. Default: 10.
    ///   - window: the period for counting calls.
    ///   - clock: measures the window.
    ///   - choose: returns the method for a challenge, or nil to refuse it.
    public static func challenge(
        allowedOrigins: [URL]? = nil, limit: Int = 10, per window: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(),
        choosing choose:
            @escaping @Sendable (
                HTTPChallenge, HTTPAuthentication.Need<HTTPAuthentication>
            ) async throws -> HTTPAuthentication?
    ) -> HTTPAuthentication {
        let chosen = HTTPAuthentication.shared(
            ChosenMethods(choose: choose, limit: limit, window: window, clock: clock), name: "challenge",
            allowedOrigins: allowedOrigins, limit: limit, per: window, clock: clock)
        return .method(
            "challenge", header: .authorization, allowedOrigins: allowedOrigins, link: AnswerChallenges(with: chosen))
    }
}

/// The challenges in a 401, with a key that is equal for equal challenges.
private struct Challenges: Sendable {
    let list: [HTTPChallenge]
    let key: String

    /// Returns nil if the response isn't a 401 with challenges, or if they are too many or too long to keep.
    init?(_ response: HTTPResponse) {
        list = response.status == .unauthorized ? response.challenges : []
        guard (1...16).contains(list.count) else { return nil }
        key = list.map { challenge in
            let parameters = challenge.parameters.filter { !Self.passing.contains($0.name) }
            return ASCII.lowercased(challenge.scheme)
                + parameters.map { " \($0.name)=\(ASCII.quoted($0.value))" }.joined()
        }.joined(separator: ", ")
        guard key.utf8.count <= 8_192 else { return nil }
    }

    var byPreference: [HTTPChallenge] {
        list.filter { !$0.hasScheme("Basic") } + list.filter { $0.hasScheme("Basic") }
    }

    var schemes: String { list.prefix(10).map { String($0.scheme.prefix(50)) }.joined(separator: ", ") }

    /// The parameters that may differ in two equal challenges.
    private static let passing: Set<String> = [
        "nonce", "opaque", "stale", "error", "error_description", "error_uri",
    ]
}

/// The challenges for a request, the method that signs it, and the original settings of the request.
private struct Choice: Sendable {
    let challenges: Challenges
    var method: HTTPAuthentication?
    private let authentication: HTTPAuthentication?
    private let requirement: HTTPAuthentication.Requirement?

    init(_ challenges: Challenges, for request: HTTPRequest) {
        self.challenges = challenges
        (authentication, requirement) = (request.authentication, request.authenticationRequirement)
    }

    /// Returns a request with its original settings. They refer to the whole authentication. While the request is
    /// signed, they refer to the chosen method.
    func restoring(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.loadValues.remove(ChosenMethod.self)
        (request.authentication, request.authenticationRequirement) = (authentication, requirement)
        return request
    }
}

private enum ChosenMethod: HTTPRequestOption { static let defaultOptionValue: Choice? = nil }

/// Remembers which requests receive which challenges.
private final class AnswerChallenges: LoaderLink {
    /// The challenges by method, origin and path, until a reset.
    private final class Known: Sendable {
        let challenges = Mutex<[[UInt8]: Challenges]>([:])
    }

    private let chosen: HTTPAuthentication
    private let link: Authenticate
    /// A reset replaces the object. So a request that began earlier adds its challenge to the old object, where no
    /// later request finds it.
    private let known = Mutex(Known())

    init(with chosen: HTTPAuthentication) { (self.chosen, link) = (chosen, Authenticate(chosen)) }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let place = Self.place(of: request)
        let known = known.withLock(\.self)
        var challenges = known.challenges.withLock { $0[place] }
        for _ in 1...2 {
            let response = try await load(request, for: challenges, next: next)
            guard let new = Challenges(response), !new.key.isSame(as: challenges?.key ?? "") else { return response }
            known.challenges.withLock { all in
                if all.count >= 1_000 { all = [:] }
                all[place] = new
            }
            guard request.body.isEmpty || request.body.isReplayable else { return response }
            await response.body.discard()
            challenges = new
        }
        return try await load(request, for: challenges, next: next)
    }

    func reset(next: any HTTPLoader) async {
        known.withLock { $0 = Known() }
        await link.reset(next: next)
    }

    private func load(
        _ request: HTTPRequest, for challenges: Challenges?, next: any HTTPLoader
    ) async throws(HTTPError) -> HTTPResponse {
        guard let challenges else { return try await next.load(request) }
        let choice = Choice(challenges, for: request)
        var signed = request
        signed.loadValues[option: ChosenMethod.self] = choice
        (signed.authentication, signed.authenticationRequirement) = (chosen, nil)
        do throws(HTTPError) {
            return try await link.load(signed, next: SignAsChosen(next: next))
        } catch {
            // The request in the error has its original settings, because the caller may send it again.
            throw error.with(request: choice.restoring(error.request))
        }
    }

    /// Returns the method, the origin, and the path up to the last slash. Requests that have these in common often need
    /// the same scope.
    private static func place(of request: HTTPRequest) -> [UInt8] {
        let method = request.method == .head ? .get : request.method
        let path = request.path.string.utf8
        let end = path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return Array("\(method.rawValue) \(request.origin?.description ?? "") ".utf8) + path[..<end]
    }
}

/// Signs a request with the method that was chosen for it. Requests that the closure sends pass through unchanged.
private struct SignAsChosen: HTTPLoader {
    let next: any HTTPLoader

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard let choice = request.loadValues[option: ChosenMethod.self] else { return try await next.load(request) }
        var request = request
        request.authentication = choice.method ?? .anonymous
        let unmarked = AnyLoader { signed throws(HTTPError) in try await next.load(choice.restoring(signed)) }
        return try await Authenticate().load(request, next: unmarked)
    }
}

/// Calls the closure once for equal challenges from an origin.
private final class ChosenMethods: CredentialProvider {
    struct Chosen: Sendable {
        let method: HTTPAuthentication
        let key: String
        let trial: ChosenMethodTrial
    }

    typealias Choose =
        @Sendable (HTTPChallenge, HTTPAuthentication.Need<HTTPAuthentication>) async throws -> HTTPAuthentication?

    private let choose: Choose
    /// The methods that store credentials. A reset removes these credentials.
    private let kept = Mutex<[HTTPAuthentication]>([])
    /// The trials whose method was refused, by origin. They limit the closure calls for a server that sends a new
    /// challenge each time.
    private let refused = Mutex<[HTTPOrigin: [ChosenMethodTrial]]>([:])
    private let limit: (count: Int, window: Duration)
    private let timeline: Timeline
    /// The limit for all methods that an origin has refused is this many times the limit for equal challenges. A
    /// program may ask for many things that its user can't access, such as repositories that don't exist.
    private static let mostChallenges = 10

    init(choose: @escaping Choose, limit: Int, window: Duration, clock: any Clock<Duration>) {
        (self.choose, self.limit, timeline) = (choose, (limit, window), Timeline(clock))
    }

    func key(for request: HTTPRequest) -> String {
        let choice = request.loadValues[option: ChosenMethod.self]
        return (request.origin?.description ?? "") + " " + (choice?.challenges.key ?? "")
    }

    func credential(for need: HTTPAuthentication.Need<Chosen>) async throws -> Chosen? {
        guard let choice = need.request.loadValues[option: ChosenMethod.self] else { return nil }
        let asked = choice.challenges
        let trial = ChosenMethodTrial(origin: need.request.origin, start: timeline.now)
        try checkLimit(of: trial)
        let own = HTTPAuthentication.Need(
            request: choice.restoring(need.request), next: need.next, previous: need.previous?.method,
            isRefused: need.isRefused, response: need.response)
        for challenge in (need.response.flatMap(Challenges.init) ?? asked).byPreference {
            guard let method = try await choose(challenge, own) else { continue }
            for unused in keep(method, for: need.request) { await Self.reset(unused) }
            return Chosen(method: method, key: asked.key, trial: trial)
        }
        throw Failure(
            .noCredentials, "no method was chosen for the challenges of the server, which are \(asked.schemes)")
    }

    func sign(_ request: inout HTTPRequest, with credential: Chosen) throws {
        request.loadValues[option: ChosenMethod.self]?.method = credential.method
    }

    /// Returns whether the server refused the method. A 401 with different challenges doesn't refuse it, because the
    /// request needs a different method. It still counts toward the limit for the origin.
    func isRefused(_ credential: Chosen, by response: HTTPResponse) -> Bool {
        note(response.status, of: credential.trial)
        return Challenges(response)?.key.isSame(as: credential.key) ?? false
    }

    private func checkLimit(of trial: ChosenMethodTrial) throws(Failure) {
        guard let origin = trial.origin else { return }
        let count = refused.withLock { refused in
            let recent = refused[origin, default: []].filter { trial.start - $0.start < limit.window }
            refused[origin] = recent.isEmpty ? nil : recent
            return recent.count
        }
        guard count / Self.mostChallenges >= limit.count else { return }
        throw Failure(
            .limitReached,
            "the server refused \(count) methods for its challenges within \(limit.window), which is the limit")
    }

    private func note(_ status: HTTPStatus, of trial: ChosenMethodTrial) {
        guard let origin = trial.origin, !trial.isPassed.load(ordering: .relaxed) else { return }
        refused.withLock { refused in
            let isListed = refused[origin]?.contains { $0 === trial } ?? false
            if status == .unauthorized, !isListed { refused[origin, default: []].append(trial) }
            guard status.code < 400 else { return }
            trial.isPassed.store(true, ordering: .relaxed)
            refused[origin]?.removeAll { $0 === trial }
        }
    }

    func reset() async {
        refused.withLock { $0 = [:] }
        for method in kept.withLock({ exchange(&$0, with: []) }) { await Self.reset(method) }
    }

    private static func reset(_ method: HTTPAuthentication) async {
        await Authenticate(method).reset(next: AnyLoader { throw HTTPError(.resetInProgress, request: $0) })
    }

    /// Remembers a method that stores credentials, so that a reset can remove them.
    ///
    /// - Returns: the methods whose credentials must be removed now. These are the oldest methods if there are too
    ///   many, or the new method itself if its client was reset in the meantime.
    private func keep(_ method: HTTPAuthentication, for request: HTTPRequest) -> [HTTPAuthentication] {
        guard method.storesCredentials else { return [] }
        return kept.withLock { kept in
            request.unlessReset {
                kept.removeAll { $0 == method }
                kept.append(method)
                let unused = Array(kept.dropLast(1_000))
                kept.removeFirst(unused.count)
                return unused
            } ?? [method]
        }
    }
}

/// A call of the closure. All requests that its method signs share the trial, which records whether one of them has
/// succeeded.
private final class ChosenMethodTrial: Sendable {
    let origin: HTTPOrigin?
    let start: Duration
    let isPassed = Atomic(false)

    init(origin: HTTPOrigin?, start: Duration) { (self.origin, self.start) = (origin, start) }
}
