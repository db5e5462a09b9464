// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// Proves with each request that the client has the key for its token (RFC 9449). A stolen token is then useless.
///
/// ```swift
/// let dpop = DPoP(key: try SignatureKey.generated(.ecdsaP256SHA256))
/// let oauth = HTTPAuthentication.oauth2(client: app, tokenEndpoint: endpoint, grant: grant, dpop: dpop)
/// ```
///
/// Pass it to `oauth2(…, dpop:)` of `LetterheadOAuth`, which adds proofs to requests for tokens and for resources.
///
/// Keep the key as long as the tokens: if the key is different, servers refuse them. The signer keeps the last nonce
/// from each origin. If a server demands a new nonce, the request is sent once more with it.
public final class DPoP: RequestSigner, LoaderLink {
    private let key: SignatureKey
    private let now: @Sendable () -> Date
    private let random: @Sendable (Int) -> [UInt8]
    private let nonces = Mutex<[HTTPOrigin: String]>([:])

    /// Creates a signer for one key.
    ///
    /// - Parameters:
    ///   - key: a private key for P-256 or Ed25519.
    ///   - now: returns the current date, which each proof contains.
    ///   - random: returns the given number of unpredictable bytes. Default: nil (the system generator).
    public init(
        key: SignatureKey, now: @escaping @Sendable () -> Date = { Date() }, random: (@Sendable (Int) -> [UInt8])? = nil
    ) {
        (self.key, self.now, self.random) = (key, now, random ?? RandomBytes.system)
    }

    /// Adds a new proof for this request.
    ///
    /// - Throws: `HTTPAuthentication.Failure` if the key can't sign proofs.
    public func sign(_ request: inout HTTPRequest, body: SignedBody) async throws {
        guard let jwk = key.publicJWK else {
            throw Failure(.misconfigured, "a DPoP proof needs a key for P-256 or Ed25519")
        }
        let algorithm = key.algorithm == .ed25519 ? "EdDSA" : "ES256"
        var claims = [
            ("jti", ASCII.quoted(RandomBytes.base64URL(random(15)))), ("htm", ASCII.quoted(request.method.rawValue)),
            ("htu", ASCII.quoted("\(ASCII.lowercased(request.scheme))://\(request.hostField)\(request.targetPath)")),
            ("iat", "\(Int64(now().timeIntervalSince1970))"),
        ]
        let token = request.headers[.authorization]?.cut(at: " ")
        if let token, ASCII.equalIgnoringCase(String(token.head), "DPoP") {
            claims.append(("ath", ASCII.quoted(RandomBytes.base64URL(SHA256Hash.hash(Array(token.tail.utf8))))))
        }
        if let nonce = request.origin.flatMap({ origin in nonces.withLock { $0[origin] } }) {
            claims.append(("nonce", ASCII.quoted(nonce)))
        }
        let parts = [
            "{\"typ\":\"dpop+jwt\",\"alg\":\"\(algorithm)\",\"jwk\":\(jwk)}",
            "{" + claims.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}",
        ]
        let text = parts.map { RandomBytes.base64URL(Array($0.utf8)) }.joined(separator: ".")
        request.headers.setSecret(text + "." + RandomBytes.base64URL(try await key.sign(Array(text.utf8))), for: "DPoP")
    }

    public func signsAgain(after response: HTTPResponse) async -> Bool {
        guard let nonce = response.headers["DPoP-Nonce"], (1...1_024).contains(nonce.utf8.count),
            ASCII.isPrintable(nonce),
            let origin = response.request.origin
        else { return false }
        nonces.withLock { nonces in
            if nonces.count >= 1_000 { nonces = [:] }
            nonces[origin] = nonce
        }
        // A concurrent request may have stored the nonce already. So the proof in this request, and not the stored
        // nonce, shows whether the nonce was used.
        let proof = response.request.headers["DPoP"]?.split(at: ".").dropFirst().first
        let claims = proof.flatMap { Base64URL.bytes(String($0)) } ?? []
        guard !String(decoding: claims, as: UTF8.self).holds("\"nonce\":" + ASCII.quoted(nonce)) else { return false }
        let code = "use_dpop_nonce"
        if response.status == .unauthorized {
            return response.challenges.contains { $0["error"]?.isSame(as: code) == true }
        }
        let body = response.status == .badRequest ? response.body.buffered : nil
        return body.map { String(decoding: $0.prefix(65_536), as: UTF8.self).holds(code) } ?? false
    }

    /// Sends the request with a proof. If the server demands a new nonce, it is sent once more.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await SignAttempts(self).load(request, next: next)
    }

    /// Forgets the nonces of all servers.
    public func reset() async { nonces.withLock { $0 = [:] } }

    public func reset(next: any HTTPLoader) async { await SignAttempts(self).reset(next: next) }
}
