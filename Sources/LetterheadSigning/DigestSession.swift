// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// Creates the proofs for one challenge and for the nonces that follow it. Concurrent requests share a nonce, and each
/// has a different count.
final class DigestSession: Sendable {
    private struct State {
        var nonce: String
        var count = 0
        var isAccepted = false
        var isOver = false
    }

    private let challenge: DigestChallenge
    private let clientNonce: String
    /// The parameters that don't differ between requests.
    private let (userParameters, realmParameter): (String, String)
    /// The hash over username, realm and password (RFC 7616, 3.4.2). An attacker could use it like the password.
    private let key: Secret
    private let state: Mutex<State>

    init(_ challenge: DigestChallenge, user: String, password: Secret, clientNonce: String) {
        let hash = challenge.hash
        (self.challenge, self.clientNonce) = (challenge, clientNonce)
        userParameters = Self.parameters(of: user, for: challenge)
        realmParameter = "realm=" + ASCII.quoted(challenge.realm)
        let key = hash.hexadecimal("\(user):\(challenge.realm):\(password.reveal())")
        self.key = Secret(challenge.isSession ? hash.hexadecimal("\(key):\(challenge.nonce):\(clientNonce)") : key)
        state = Mutex(State(nonce: challenge.nonce))
    }

    /// The strength of the challenge. Nil until the server has accepted a proof.
    var acceptedStrength: Int? { state.withLock { $0.isAccepted ? challenge.strength : nil } }

    /// Whether the server has refused the password.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Returns the value of `Authorization` for a request (RFC 7616, 3.4).
    func proof(for request: HTTPRequest) throws -> String {
        let bodyHash =
            challenge.protection == "auth-int" ? ":" + challenge.hash.hexadecimal(try bytes(of: request)) : ""
        let (nonce, number) = state.withLock { state in
            state.count += 1
            return (state.nonce, state.count)
        }
        let count = Hexadecimal.text((0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) })
        let target = challenge.hash.hexadecimal("\(request.method.rawValue):\(request.target)\(bodyHash)")
        let protected = challenge.protection.map { "\(count):\(clientNonce):\($0):" } ?? ""
        let proof = challenge.hash.hexadecimal("\(key.reveal()):\(nonce):\(protected)\(target)")
        var parameters = [
            userParameters, realmParameter, "nonce=" + ASCII.quoted(nonce), "uri=" + ASCII.quoted(request.target),
            "response=\"\(proof)\"",
        ]
        if let algorithm = challenge.algorithm { parameters.append("algorithm=\(algorithm)") }
        if challenge.isSession || challenge.protection != nil { parameters.append("cnonce=\"\(clientNonce)\"") }
        if let protection = challenge.protection { parameters += ["qop=\(protection)", "nc=\(count)"] }
        if let opaque = challenge.opaque { parameters.append("opaque=" + ASCII.quoted(opaque)) }
        return "Digest " + parameters.joined(separator: ", ")
    }

    /// Returns whether to send a new proof after a 401 with a challenge that can be answered.
    ///
    /// A 401 without `stale` refuses the password (RFC 7616, 3.3). But some servers leave it out when a nonce has
    /// expired, so a password that was accepted before is tried with the new nonce.
    func mayBeReplaced(after response: HTTPResponse) -> Bool {
        let isStale = response.challenges.contains {
            $0.hasScheme("Digest") && $0["stale"].map(ASCII.keyword) == "true"
        }
        let isOfThisRealm = response.challenges.contains { $0["realm"]?.isSame(as: challenge.realm) == true }
        return state.withLock { state in
            // A 401 to a proof with an older nonce doesn't refuse the password.
            if isOfThisRealm, !isStale, !state.isAccepted, Self.hasProof(response.request, for: state.nonce) {
                state.isOver = true
            }
            return !state.isOver
        }
    }

    /// Returns whether a challenge continues this session. The counts then continue as well, so that no count is used
    /// twice.
    func meets(_ other: DigestChallenge) -> Bool {
        let nonce = state.withLock { $0.isOver ? nil : $0.nonce }
        return nonce?.isSame(as: other.nonce) == true && other.realm.isSame(as: challenge.realm)
            && other.hash == challenge.hash && other.isSession == challenge.isSession
            && other.protection == challenge.protection
    }

    private static func hasProof(_ request: HTTPRequest, for nonce: String) -> Bool {
        request.headers[.authorization]?.holds("nonce=" + ASCII.quoted(nonce)) == true
    }

    /// Records that the server has accepted a proof, and changes to the next nonce in the response (RFC 7616, 3.5). A
    /// response to a proof with an older nonce is ignored.
    func accept(_ response: HTTPResponse) {
        let information = response.headers["Authentication-Info"].map(HTTPChallenge.parameters) ?? []
        let next = information.first { $0.name.isSame(as: "nextnonce") }?.value
        // A gateway error doesn't show that the server accepted the password.
        guard response.status.code < 400 || !information.isEmpty else { return }
        state.withLock { state in
            guard Self.hasProof(response.request, for: state.nonce) else { return }
            state.isAccepted = true
            guard let next, !next.isSame(as: state.nonce) else { return }
            (state.nonce, state.count) = (next, 0)
        }
    }

    private func bytes(of request: HTTPRequest) throws -> [UInt8] {
        if request.body.isReplayable, let data = try? request.body.encode() { return Array(data) }
        throw Failure(
            .misconfigured,
            "the server requires a proof that includes the body (auth-int), so the body must be replayable and in memory"
        )
    }

    /// Returns the parameters for the username. The extended form (RFC 8187) is used only for servers that announce
    /// UTF-8. Other servers receive the bytes of the name.
    private static func parameters(of user: String, for challenge: DigestChallenge) -> String {
        if challenge.hashesUser {
            return "username=\"\(challenge.hash.hexadecimal("\(user):\(challenge.realm)"))\", userhash=true"
        }
        if challenge.isUTF8, !ASCII.isASCII(user) {
            return "username*=UTF-8''" + PercentEncoding.escape(user, .unreserved)
        }
        return "username=" + ASCII.quoted(user)
    }
}
