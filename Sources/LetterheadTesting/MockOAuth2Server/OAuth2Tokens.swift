// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

/// A ``MockOAuth2Server``'s codes and tokens.
///
/// This type is a class because requests and tests change it.
final class OAuth2Tokens: Sendable {
    struct Code: Sendable {
        let challenge: String
        let redirectURI: String
        let scope: String?
    }

    /// The tokens in one response.
    struct Issue: Sendable {
        let access: String
        let refresh: String?
        let scope: String?
    }

    private struct State {
        var last = 0
        var codes: [String: Code] = [:]
        var access: [String: (family: Int, end: Duration)] = [:]
        var refresh: [String: (family: Int, scope: String?)] = [:]
        var usedRefresh: [String: Int] = [:]
        var devices: [String: (userCode: String, scope: String?, isApproved: Bool)] = [:]

        mutating func next(_ name: String) -> String {
            last += 1
            return "\(name)-\(last)"
        }
    }

    let lifetime: Duration
    private let timeline: Timeline
    private let state = Mutex(State())

    init(lifetime: Duration, clock: any Clock<Duration>) {
        self.lifetime = lifetime
        timeline = Timeline(clock)
    }

    func add(_ code: Code) -> String {
        state.withLock { state in
            let name = state.next("code")
            state.codes[name] = code
            return name
        }
    }

    /// Removes and returns a code: it can be used once (RFC 6749, 4.1.2).
    func take(code: String) -> Code? { state.withLock { $0.codes.removeValue(forKey: code) } }

    /// Issues tokens. Without a family, they belong to a new sign-in.
    func issue(scope: String?, family: Int? = nil, withRefresh: Bool) -> Issue {
        let end = timeline.now + lifetime
        return state.withLock { state in
            let access = state.next("access")
            let family = family ?? state.last
            state.access[access] = (family, end)
            let refresh = withRefresh ? state.next("refresh") : nil
            if let refresh { state.refresh[refresh] = (family, scope) }
            return Issue(access: access, refresh: refresh, scope: scope)
        }
    }

    /// Replaces a refresh token. A refresh token that was already used revokes all tokens from its sign-in, and the
    /// result is nil (RFC 9700, 4.14.2).
    func rotate(_ token: String) -> Issue? {
        let sign = state.withLock { state in
            if let sign = state.refresh.removeValue(forKey: token) {
                state.usedRefresh[token] = sign.family
                return sign as (family: Int, scope: String?)?
            }
            guard let family = state.usedRefresh[token] else { return nil }
            state.access = state.access.filter { $0.value.family != family }
            state.refresh = state.refresh.filter { $0.value.family != family }
            return nil
        }
        return sign.map { issue(scope: $0.scope, family: $0.family, withRefresh: true) }
    }

    func isValid(_ authorization: String?) -> Bool {
        guard let authorization, let (scheme, token) = authorization.cut(at: " "), ASCII.keyword(scheme) == "bearer",
            ASCII.isPrintable(String(token))
        else { return false }
        let now = timeline.now
        return state.withLock { $0.access[String(token)].map { $0.end > now } ?? false }
    }

    func addDevice(scope: String?) -> (device: String, user: String) {
        state.withLock { state in
            let device = state.next("device")
            let user = state.next("USER")
            state.devices[device] = (user, scope, false)
            return (device, user)
        }
    }

    func approve(_ userCode: String) {
        state.withLock { state in
            for (device, entry) in state.devices where entry.userCode == userCode {
                state.devices[device]?.isApproved = true
            }
        }
    }

    /// Returns a device's state, or nil for an unknown device. Forgets an approved one.
    func poll(_ device: String) -> (scope: String?, isApproved: Bool)? {
        state.withLock { state in
            guard let entry = state.devices[device] else { return nil }
            if entry.isApproved { state.devices[device] = nil }
            return (entry.scope, entry.isApproved)
        }
    }

    func revokeAccess() { state.withLock { $0.access = [:] } }

    func revokeAll() {
        state.withLock { state in
            (state.access, state.refresh, state.codes, state.devices) = ([:], [:], [:], [:])
        }
    }
}
