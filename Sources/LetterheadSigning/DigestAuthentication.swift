// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

extension HTTPAuthentication {
    /// Proves that the client knows a password, without sending it (RFC 7616).
    ///
    /// Use it for servers that require it, such as cameras and printers. Over https, prefer a token.
    ///
    /// ```swift
    /// let camera = HTTPClient(
    ///     environment: .camera, authentication: .digest(user: "admin", password: password))
    /// ```
    ///
    /// The first request is sent without credentials. After the 401, it is sent once more with a proof for the
    /// challenge. Later requests to the same origin are signed at once, and concurrent requests share a nonce.
    ///
    /// - The method supports SHA-512-256, SHA-256, MD5 and their session forms. If a response has several challenges,
    ///   it answers the strongest one.
    /// - The proof includes the body only if the server accepts nothing else (`auth-int`).
    /// - If the server refuses the password, you receive the 401, and the request isn't sent again.
    /// - A request with a one-shot body fails with `.cannotAuthenticate` before it is sent, unless an earlier request
    ///   to the origin has received a challenge. Send a request without a body first.
    /// - Over plain http, an attacker on the network could replace a challenge. If a challenge is weaker than one that
    ///   was accepted before (MD5 after SHA-256, or without `qop`), it isn't answered, and you receive the 401.
    ///
    /// - Parameters:
    ///   - user: the username. If it or the password contains a control character, each request fails with
    ///     `.invalidRequest`.
    ///   - password: the password. It is never sent.
    ///   - allowedOrigins: where requests are signed (see `HTTPAuthentication`). Without them, the password is used
    ///     only for the first origin that a request is sent to, until a reset.
    ///   - random: returns the given number of unpredictable bytes. Default: nil (the system generator).
    public static func digest(
        user: String, password: Secret, allowedOrigins: [URL]? = nil, random: (@Sendable (Int) -> [UInt8])? = nil
    ) -> HTTPAuthentication {
        let provider = DigestProvider(
            user: user, password: password, isBound: allowedOrigins == nil, random: random ?? RandomBytes.system)
        // No limit is necessary: a new nonce costs no request, and some servers issue one with each response.
        return shared(
            provider, name: "digest", header: .authorization, allowedOrigins: allowedOrigins, limit: .max, per: .zero)
    }
}

struct DigestCredential: Sendable {
    /// A random text that separates the responses for this credential from others in a cache.
    fileprivate let identity: String
    /// Nil if there is no challenge to answer.
    fileprivate var session: DigestSession?
    /// The strength of the last challenge that was answered successfully before this session. Only a reset removes it.
    fileprivate var earlierStrength = 0

    fileprivate var acceptedStrength: Int { session?.acceptedStrength ?? earlierStrength }

    /// Returns the strongest challenge in a response. Over plain http, returns nil if it is weaker than the last
    /// accepted challenge, because a weaker proof would let an attacker on the network guess the password.
    fileprivate func challenge(of response: HTTPResponse) -> DigestChallenge? {
        guard let new = DigestChallenge.strongest(in: response) else { return nil }
        return response.request.origin?.isSecure == true || new.strength >= acceptedStrength ? new : nil
    }
}

/// Keeps a session for each origin. A session begins with the challenge in a 401.
private struct DigestProvider: CredentialProvider {
    /// Nil if the username or the password contains a control character.
    private let account: (user: String, password: Secret)?
    private let isBound: Bool
    private let random: @Sendable (Int) -> [UInt8]

    init(user: String, password: Secret, isBound: Bool, random: @escaping @Sendable (Int) -> [UInt8]) {
        let password = HTTPAuthentication.composed(password.reveal())
        account = HTTPAuthentication.composed(user).flatMap { user in password.map { (user, Secret($0)) } }
        (self.isBound, self.random) = (isBound, random)
    }

    /// Returns the key by which requests share a credential. If the password is bound to a single origin, there is one
    /// credential, and the first request determines the origin.
    func key(for request: HTTPRequest) -> String { isBound ? "" : request.origin?.description ?? "" }

    func identity(of credential: DigestCredential) -> String? { credential.identity }

    func credential(for need: HTTPAuthentication.Need<DigestCredential>) async throws -> DigestCredential? {
        var credential = need.previous ?? DigestCredential(identity: RandomBytes.base64URL(RandomBytes.system(15)))
        credential.earlierStrength = credential.acceptedStrength
        let challenge = need.response.flatMap(credential.challenge)
        // The session continues, so that concurrent requests use each count only once.
        if let challenge, credential.session?.meets(challenge) == true { return credential }
        credential.session = challenge.flatMap { challenge in
            let clientNonce = Data(random(33)).base64EncodedString()
            return account.map {
                DigestSession(challenge, user: $0.user, password: $0.password, clientNonce: clientNonce)
            }
        }
        return credential
    }

    func sign(_ request: inout HTTPRequest, with credential: DigestCredential) throws {
        guard account != nil else {
            throw HTTPError(
                .invalidRequest, request: request, message: "the username or the password contains a control character")
        }
        if let session = credential.session {
            request.headers.setSecret(try session.proof(for: request), for: .authorization)
        } else if !request.body.isEmpty, !request.body.isReplayable {
            throw Failure(
                .noCredentials,
                "the server has not sent a digest challenge yet, and the body can be sent only once (send a "
                    + "request without a body first, or use a replayable body)")
        }
    }

    func freshness(of credential: DigestCredential, for request: HTTPRequest) -> HTTPAuthentication.Freshness {
        credential.session?.isOver == true ? .expired : .fresh
    }

    func isRefused(_ credential: DigestCredential, by response: HTTPResponse) -> Bool {
        guard response.status == .unauthorized else {
            credential.session?.accept(response)
            return false
        }
        guard credential.challenge(of: response) != nil else { return false }
        return credential.session?.mayBeReplaced(after: response) ?? true
    }
}

/// A challenge that this client can answer (RFC 7616, 3.3).
struct DigestChallenge: Sendable {
    let realm: String
    let nonce: String
    let opaque: String?
    /// The algorithm name as received. Nil means MD5.
    let algorithm: String?
    let hash: DigestHash
    /// Whether the proof depends on the first nonces in the session (the algorithms that end in `-sess`).
    let isSession: Bool
    /// `auth` or `auth-int`, or nil for servers that know only RFC 2069.
    let protection: String?
    let hashesUser: Bool
    let isUTF8: Bool

    static func strongest(in response: HTTPResponse) -> DigestChallenge? {
        response.challenges.compactMap { DigestChallenge($0) }.max { $0.hash.strength < $1.hash.strength }
    }

    /// A stronger hash counts more than the presence of `qop`.
    var strength: Int { 2 * hash.strength + (protection == nil ? 0 : 1) }

    /// Returns nil for other schemes, and for a challenge that is malformed or requires something unknown.
    init?(_ challenge: HTTPChallenge) {
        guard challenge.hasScheme("Digest"), let realm = challenge["realm"], let nonce = challenge["nonce"] else {
            return nil
        }
        (self.realm, self.nonce, opaque, algorithm) = (realm, nonce, challenge["opaque"], challenge["algorithm"])
        let name = ASCII.keyword(algorithm ?? "MD5")
        isSession = name.ends(with: "-sess")
        guard let hash = DigestHash(rawValue: String(isSession ? name.dropLast(5) : name[...])) else { return nil }
        self.hash = hash
        let offered = challenge["qop"].map { ASCII.members(of: [$0]).map(ASCII.keyword) } ?? []
        protection = ["auth", "auth-int"].first { offered.contains($0) }
        guard protection != nil || offered.isEmpty else { return nil }
        hashesUser = challenge["userhash"].map(ASCII.keyword) == "true"
        isUTF8 = challenge["charset"].map(ASCII.keyword) == "utf-8"
    }
}

enum DigestHash: String {
    case md5
    case sha256 = "sha-256"
    /// SHA-512/256.
    case sha512 = "sha-512-256"

    var strength: Int { self == .md5 ? 0 : self == .sha256 ? 1 : 2 }

    /// Hashes a text, and returns hexadecimal digits, the form that RFC 7616 uses.
    func hexadecimal(_ text: String) -> String { hexadecimal(Array(text.utf8)) }

    func hexadecimal(_ bytes: [UInt8]) -> String {
        switch self {
        case .md5: Hexadecimal.text(MD5Hash.hash(bytes))
        case .sha256: Hexadecimal.text(SHA256Hash.hash(bytes))
        case .sha512: Hexadecimal.text(SHA512Hash.shortHash(bytes))
        }
    }
}
