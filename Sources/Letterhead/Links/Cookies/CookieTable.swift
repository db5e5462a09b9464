// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The cookies of a jar by domain, and the limits on their number. The jar protects the table with a lock.
struct CookieTable {
    static let limits = (domain: 180, all: 3000)

    private var domains: [String: [CookieJar.Cookie]] = [:]
    private(set) var count = 0
    /// The changes that the file of the jar doesn't contain yet, oldest first, and at most as many as it can contain. A
    /// save writes all of them, so that concurrent responses need few saves.
    private var unsaved: ArraySlice<CookieJar.Cookie> = []
    private var lastOrder: UInt64 = 0
    /// Whether a domain may have too many cookies.
    private var isOverfull = false

    /// Returns the cookies that haven't expired, sorted by domain, path and name.
    func cookies(at now: Date) -> [CookieJar.Cookie] {
        domains.values.joined().filter { !$0.hasExpired(at: now) }
            .map { (key: Array("\($0.domain)\0\($0.path)\0\($0.name)".utf8), cookie: $0) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.cookie)
    }

    /// Stores a cookie. If it has expired, the stored cookie with the same key is removed instead. After several
    /// cookies, call ``trim(at:)`` once.
    mutating func set(_ cookie: CookieJar.Cookie, at now: Date) {
        var cookie = cookie
        let old = remove(cookie)
        guard !cookie.hasExpired(at: now) else { return }
        if let old {
            (cookie.created, cookie.order) = (old.created, old.order)
        } else {
            lastOrder += 1
            cookie.order = lastOrder
        }
        cookie.lastUsed = now
        domains[cookie.domain, default: []].append(cookie)
        count += 1
        let siblings = domains[cookie.domain]?.count ?? 0
        if siblings > Self.limits.domain { isOverfull = true }
        // One response could set any number of cookies before its caller trims.
        if siblings > 2 * Self.limits.domain || count > 2 * Self.limits.all { trim(at: now) }
    }

    func cookie(like cookie: CookieJar.Cookie) -> CookieJar.Cookie? {
        domains[cookie.domain]?.first { $0.hasSameKey(as: cookie) }
    }

    /// Returns the Secure cookies of a domain, its parents and its subdomains.
    func secureCookies(near other: String) -> [CookieJar.Cookie] {
        domains.flatMap { domain, cookies in
            CookieRules.domainMatches(domain, other) || CookieRules.domainMatches(other, domain)
                ? cookies.filter(\.isSecure) : []
        }
    }

    /// Returns the cookies for a request in the order of its `Cookie` header (RFC 6265bis, 5.8.3): longer paths first,
    /// then older cookies. They count as used.
    mutating func cookies(for target: CookieTarget, at now: Date) -> [CookieJar.Cookie] {
        guard count > 0 else { return [] }
        var found: [CookieJar.Cookie] = []
        for domain in target.domains {
            // The cookies are taken out of the dictionary, so that it isn't searched for each of them.
            guard var cookies = domains.removeValue(forKey: domain) else { continue }
            for place in cookies.indices where cookies[place].isSent(to: target) && !cookies[place].hasExpired(at: now)
            {
                cookies[place].lastUsed = now
                found.append(cookies[place])
            }
            domains[domain] = cookies
        }
        return found.sorted { left, right in
            let (long, short) = (left.path.utf8.count, right.path.utf8.count)
            if long != short { return long > short }
            return (left.created, left.order) < (right.created, right.order)
        }
    }

    @discardableResult
    mutating func remove(_ cookie: CookieJar.Cookie) -> CookieJar.Cookie? {
        guard let place = domains[cookie.domain]?.firstIndex(where: { $0.hasSameKey(as: cookie) }) else { return nil }
        let removed = domains[cookie.domain]?.remove(at: place)
        if domains[cookie.domain]?.isEmpty == true { domains[cookie.domain] = nil }
        count -= 1
        return removed
    }

    mutating func removeAll() { self = CookieTable() }

    var hasUnsaved: Bool { !unsaved.isEmpty }

    mutating func noteUnsaved(_ cookie: CookieJar.Cookie) {
        unsaved.append(cookie)
        if unsaved.count > Self.limits.all { unsaved.removeFirst() }
    }

    mutating func takeUnsaved() -> ArraySlice<CookieJar.Cookie> { exchange(&unsaved, with: []) }

    /// If a limit is exceeded, removes the expired cookies, and then the least recently used ones. Of a domain, those
    /// that http may set are removed first, so that http can't remove the others (RFC 6265bis, 5.7).
    ///
    /// It removes a few more than necessary, so that a full jar isn't sorted for each response. Call it once for all
    /// cookies of a response.
    mutating func trim(at now: Date) {
        if isOverfull {
            for cookies in domains.values where cookies.count > Self.limits.domain {
                for cookie in Self.superfluous(cookies, limit: Self.limits.domain, now: now, keepsSecure: true) {
                    remove(cookie)
                }
            }
            isOverfull = false
        }
        guard count > Self.limits.all else { return }
        for cookie in Self.superfluous(domains.values.joined(), limit: Self.limits.all, now: now) { remove(cookie) }
    }

    private static func superfluous(
        _ cookies: some Sequence<CookieJar.Cookie>, limit: Int, now: Date, keepsSecure: Bool = false
    ) -> [CookieJar.Cookie] {
        let (expired, current) = cookies.reduce(into: ([CookieJar.Cookie](), [CookieJar.Cookie]())) { parts, cookie in
            if cookie.hasExpired(at: now) { parts.0.append(cookie) } else { parts.1.append(cookie) }
        }
        guard current.count > limit else { return expired }
        let oldest = current.sorted { left, right in
            guard !keepsSecure || left.isSecure == right.isSecure else { return right.isSecure }
            return (left.lastUsed, left.order) < (right.lastUsed, right.order)
        }
        return expired + oldest.prefix(current.count - limit + limit / 32)
    }
}

extension CookieTarget {
    /// The host and the domains that include it.
    fileprivate var domains: [String] {
        guard !CookieRules.isAddress(host) else { return [host] }
        var domains = [host]
        var rest = Substring(host)
        // A host name has at most 127 labels.
        while domains.count < 128, let (_, tail) = rest.cut(at: ".") {
            rest = tail
            if !rest.isEmpty { domains.append(String(rest)) }
        }
        return domains
    }
}

extension CookieJar.Cookie {
    func hides(_ other: CookieJar.Cookie) -> Bool {
        name.isSame(as: other.name) && CookieRules.pathMatches(path, other.path)
    }

    fileprivate func isSent(to target: CookieTarget) -> Bool {
        (isHostOnly ? target.host.isSame(as: domain) : CookieRules.domainMatches(target.host, domain))
            && CookieRules.pathMatches(target.path, path) && (!isSecure || target.isSecure)
    }
}
