// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

/// Keeps cookies from responses, and sends them with later requests (RFC 6265bis).
///
/// ```swift
/// let client = HTTPClient(environment: .production, cookies: CookieJar())
/// try await client.send(Login(user: "ada"))        // the response sets a session cookie
/// try await client.send(GetProfile())              // the request has it
/// await client.reset()                             // removes all cookies
/// ```
///
/// Use a jar for a server that recognizes a session by a cookie. A jar belongs to the clients that you pass it to, and
/// the process has no shared jar. A client uses it for each attempt and each hop of a redirect. <doc:StoringCookies>
/// shows how to save cookies and to set them yourself.
///
/// - The jar stores at most 180 cookies of one domain and 3,000 in total. Beyond that, it removes the least recently
///   used ones until a thirty-second of the limit is free again.
/// - A cookie is refused if its name and value have more than 4096 bytes together, and is stored for at most 400 days.
/// - In a custom chain, put the jar below ``ApplyEnvironment``, so that the URL of the request is complete, and below
///   ``Authenticate``, so that it sees a 401 that is handled there. Put it above a cache.
public final class CookieJar: LoaderLink {
    let table = Mutex(CookieTable())
    let isPublicSuffix: @Sendable (String) -> Bool
    let onError: @Sendable (any Error) -> Void
    let now: @Sendable () -> Date
    let file: CookieFile?

    /// Creates an empty jar in memory.
    ///
    /// A cookie for a public suffix, such as `co.uk`, would reach hosts of different owners. The jar therefore accepts
    /// a cookie for a public suffix, a single label or an IP address only from the host with the same name, and doesn't
    /// send it to subdomains. If your client sends requests to hosts that you don't trust, pass a closure that searches
    /// the Public Suffix List.
    ///
    /// - Parameters:
    ///   - now: returns the current date. Default: the system date.
    ///   - isPublicSuffix: returns whether a domain, in lower case, is a public suffix. Default: false for each domain.
    public init(
        now: @escaping @Sendable () -> Date = { Date() },
        isPublicSuffix: @escaping @Sendable (String) -> Bool = { _ in false }
    ) {
        (self.now, self.isPublicSuffix, file, onError) = (now, isPublicSuffix, nil, { _ in })
    }

    /// Creates a jar that loads its cookies from a file and stores them there.
    ///
    /// The file has the format of ``text``, and only its owner can read it. Session cookies are neither saved nor
    /// loaded. Several processes can use one file: each process saves only its own changes and keeps the changes of the
    /// others. A file that is damaged, or that other users can write, is treated as empty.
    ///
    /// - The file is replaced atomically when a persistent cookie is set, changed or removed. It isn't replaced if only
    ///   an expiry moves, by less than 1 % of the remaining lifetime and by less than an hour. Saving creates the
    ///   directory.
    /// - If a different process holds the lock of the file, a change waits for at most five seconds, and not past the
    ///   deadline or the cancellation of the request. The cookies are then only in memory until the jar saves a later
    ///   change. This is also true if the file can't be written, or can't be read before it is replaced.
    /// - A request blocks no thread while it waits, but `set(_:)`, `remove(_:)`, `removeAll()` and `add(text:)` block
    ///   the calling thread.
    ///
    /// - Parameters:
    ///   - file: the URL of the file.
    ///   - now: returns the current date. Default: the system date.
    ///   - isPublicSuffix: see ``init(now:isPublicSuffix:)``.
    ///   - onError: receives the error if the file cannot be read or written, on the thread that uses the file.
    ///     Requests don't fail because of it. Default: ignores the error.
    public init(
        file: URL, now: @escaping @Sendable () -> Date = { Date() },
        isPublicSuffix: @escaping @Sendable (String) -> Bool = { _ in false },
        onError: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        (self.now, self.isPublicSuffix, self.onError) = (now, isPublicSuffix, onError)
        self.file = CookieFile(file)
        do {
            let loaded = try CookieFile(file).load(at: now())
            table.withLock { table in
                for cookie in loaded { table.set(cookie.saved, at: now()) }
                table.trim(at: now())
            }
        } catch {
            onError(error)
        }
    }

    /// The cookies that haven't expired, sorted by domain, path and name.
    public var cookies: [Cookie] { table.withLock { $0.cookies(at: now()) } }

    /// Stores a cookie. It replaces a cookie with the same name, domain, path and ``Cookie/isHostOnly``. An expired
    /// cookie removes the existing cookie and isn't stored.
    public func set(_ cookie: Cookie) { set([cookie]) }

    /// Stores several cookies and writes the file once.
    func set(_ cookies: [Cookie]) {
        let time = now()
        table.withLock { table in
            for var cookie in cookies {
                cookie.created = time
                table.set(cookie.saved, at: time)
                if file != nil { table.noteUnsaved(cookie) }
            }
            table.trim(at: time)
        }
        save()
    }

    /// Removes the cookie with the same name, domain, path and ``Cookie/isHostOnly``.
    public func remove(_ cookie: Cookie) {
        table.withLock { table in
            guard var removed = table.remove(cookie), file != nil else { return }
            removed.expires = Date(timeIntervalSince1970: 0)
            table.noteUnsaved(removed)
        }
        save()
    }

    /// Removes all cookies, and deletes the file, even if a different process holds its lock for too long.
    public func removeAll() {
        table.withLock { $0.removeAll() }
        if let file { delete(file, holding: Result { try file.lock() }) }
    }

    /// Adds the stored cookies for the URL to the request, and stores the cookies in the response. If the request sets
    /// a cookie itself, the jar doesn't add a cookie of the same name.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard request.handlesCookies, let target = CookieTarget(request) else { return try await next.load(request) }
        let cookies = request.missing(table.withLock { $0.cookies(for: target, at: now()) })
        if !cookies.isEmpty { request.record(.cookieSent) { $0[.count] = cookies.count } }
        do throws(HTTPError) {
            var response = try await next.load(cookies.isEmpty ? request : request.adding(cookies))
            await store(&response, of: request)
            return response
        } catch {
            if var response = error.response { await store(&response, of: request) }
            throw error
        }
    }

    /// Resets the links below, removes all cookies and deletes the file.
    ///
    /// If a different process holds the lock of the file, it waits for at most five seconds, without blocking a thread.
    /// The file is then deleted anyway.
    public func reset(next: any HTTPLoader) async {
        await next.reset()
        table.withLock { $0.removeAll() }
        guard let file else { return }
        var lock: Result<Int32, any Error>
        do { lock = .success(try await file.lock(within: CookieFile.patience)) } catch { lock = .failure(error) }
        delete(file, holding: lock)
    }

    private func save() {
        guard let file, table.withLock({ $0.hasUnsaved }) else { return }
        do { try save(to: file, holding: file.lock()) } catch { onError(error) }
    }

    private func save(for request: HTTPRequest) async {
        guard let file else { return }
        do {
            let limit = min(request.timeLeft ?? .never, CookieFile.patience)
            try save(to: file, holding: try await file.lock(within: limit))
        } catch is CancellationError {
            // The next save writes the changes.
        } catch { onError(error) }
    }

    private func save(to file: CookieFile, holding lock: Int32) throws {
        defer { PrivateFile.unlock(lock) }
        let changes = table.withLock { $0.takeUnsaved() }
        do { if !changes.isEmpty { try file.save(changes, at: now()) } } catch {
            // The next save writes them, unless a reset has removed the cookies in the meantime.
            table.withLock { table in
                for cookie in changes {
                    table.noteUnsaved(table.cookie(like: cookie) ?? changed(cookie) { $0.expires = .distantPast })
                }
            }
            throw error
        }
    }

    private func delete(_ file: CookieFile, holding lock: Result<Int32, any Error>) {
        do { try file.delete() } catch { onError(error) }
        do { PrivateFile.unlock(try lock.get()) } catch { onError(error as? CookieFile.Failure ?? CookieFile.held) }
    }
}

extension CookieJar {
    /// Stores the cookies of a response from a server. A response from a cache sets no new cookies.
    private func store(_ response: inout HTTPResponse, of request: HTTPRequest) async {
        let fields = response.newSetCookies
        guard !fields.isEmpty, let target = CookieTarget(response.request) else { return }
        let time = now()
        var isChanged = false
        var secure: [String: [Cookie]] = [:]
        let decisions = fields.map { field in
            let decision = decide(on: field, from: target, at: time, secure: &secure)
            if case .success(let cookie) = decision.result, change(cookie, by: request, at: time) { isChanged = true }
            return decision
        }
        table.withLock { $0.trim(at: time) }
        response[option: CookieDecisions.self] = decisions
        for decision in decisions { decision.record(for: request, at: time) }
        if isChanged { await save(for: request) }
    }

    /// Decides whether the cookie of a `Set-Cookie` field is stored.
    ///
    /// - Parameter secure: the Secure cookies found so far, by domain.
    private func decide(
        on field: String, from target: CookieTarget, at time: Date, secure: inout [String: [Cookie]]
    ) -> CookieDecision {
        guard let parsed = SetCookie(field) else { return CookieDecision(name: "", result: .failure(.malformed)) }
        do throws(CookieRules.Refusal) {
            let cookie = try CookieRules.cookie(parsed, from: target, now: time, isPublicSuffix: isPublicSuffix)
            if !cookie.isSecure, !target.isSecure {
                // A cookie from a request without https must not hide one with Secure (RFC 6265bis, 5.7, step 16).
                let near = secure[cookie.domain] ?? table.withLock { $0.secureCookies(near: cookie.domain) }
                secure[cookie.domain] = near
                if near.contains(where: { cookie.hides($0) }) { throw .overlaysSecure }
            }
            return CookieDecision(name: parsed.name, result: .success(cookie))
        } catch {
            return CookieDecision(name: parsed.name, result: .failure(error))
        }
    }

    /// Stores the cookie, unless a reset of the client has removed all cookies since the request began. Returns whether
    /// the file must change.
    private func change(_ cookie: Cookie, by request: HTTPRequest, at time: Date) -> Bool {
        table.withLock { table in
            request.unlessReset {
                let old = table.cookie(like: cookie)
                // If a server sets the same cookie in each response, its expiry moves only by seconds.
                if let old, cookie.isSaved(as: old, at: time) {
                    table.set(changed(cookie) { $0.savedExpiry = old.savedExpiry }, at: time)
                    return false
                }
                table.set(cookie.saved, at: time)
                guard file != nil, old?.expires != nil || cookie.expires != nil else { return false }
                table.noteUnsaved(cookie)
                return true
            } ?? false
        }
    }
}

extension CookieJar: CustomStringConvertible, CustomReflectable {
    /// The names, domains and paths of the cookies.
    public var description: String { "CookieJar(\(cookies.map(\.description).joined(separator: ", ")))" }
    /// Contains no values, so that `dump` prints none.
    public var customMirror: Mirror { Mirror(describing: self, as: .class) }
}

struct CookieDecision: Sendable, CustomStringConvertible {
    let name: String
    /// The cookie that was stored (or removed, if it has expired), or why it was refused.
    let result: Result<CookieJar.Cookie, CookieRules.Refusal>

    /// Records an event without the value of the cookie.
    func record(for request: HTTPRequest, at time: Date) {
        switch result {
        case .success(let cookie):
            request.record(cookie.hasExpired(at: time) ? .cookieRemoved : .cookieStored) { event in
                event[.name] = Redaction.visible(name)
            }
        case .failure(let refusal):
            request.record(.cookieRefused) { event in
                event[.name] = Redaction.visible(name)
                event[.reason] = refusal.rawValue
            }
        }
    }

    var description: String {
        switch result {
        case .success(let cookie): "stored \(cookie)"
        case .failure(let refusal): "refused \(Redaction.visible(name)): \(refusal.rawValue)"
        }
    }
}

/// The decisions about the cookies in a response, in the order of the fields.
enum CookieDecisions: HTTPRequestOption {
    static let defaultOptionValue: [CookieDecision] = []
}

/// The value of ``HTTPResponse/newSetCookies`` if a link has set it. Nil if all fields of the response are new.
private enum NewSetCookies: HTTPRequestOption {
    static let defaultOptionValue: [String]? = nil
}

extension HTTPResponse {
    /// The `Set-Cookie` values that a server has sent for this request. A ``CookieJar`` above applies them.
    ///
    /// If you write a cache, set it for a stored response: to the values that the server has sent with a confirmation
    /// (304), or to an empty list. The cookies in a stored response must not be applied again.
    public var newSetCookies: [String] {
        get { self[option: NewSetCookies.self] ?? headers.values(for: .setCookie) }
        set { self[option: NewSetCookies.self] = newValue }
    }
}

extension HTTPResponse {
    /// The cookies that the response sets, in order. Cookies that a client must ignore or refuse (RFC 6265bis) are left
    /// out, such as those for a foreign domain. If the server deletes a cookie, its expiry is in the past.
    public var cookies: [CookieJar.Cookie] {
        guard headers.contains(.setCookie), let target = CookieTarget(request) else { return [] }
        return headers.values(for: .setCookie).compactMap { field in
            SetCookie(field).flatMap {
                try? CookieRules.cookie($0, from: target, now: Date(), isPublicSuffix: { _ in false })
            }
        }
    }
}

extension HTTPRequest {
    /// Returns the cookies with names that the request doesn't set itself.
    func missing(_ cookies: [CookieJar.Cookie]) -> [CookieJar.Cookie] {
        guard !cookies.isEmpty, let own = headers[.cookie] else { return cookies }
        let names = Set(own.split(at: ";").compactMap { $0.cut(at: "=").map { Array(ASCII.trimmed($0.head).utf8) } })
        return cookies.filter { !names.contains(Array($0.name.utf8)) }
    }

    /// Returns the request with cookies in addition to those that it sets itself, which come last.
    func adding(_ cookies: [CookieJar.Cookie]) -> HTTPRequest {
        var request = self
        let texts = cookies.map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        let all = texts + (headers[.cookie].map { [$0] } ?? [])
        request.headers.setSecret(all.joined(separator: "; "), for: .cookie)
        return request
    }
}
