// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

extension ResponseCache {
    /// Removes the stored responses for a template URL. Use it for example when a push message reports that a resource
    /// has changed.
    ///
    /// ```swift
    /// try await cache.remove(GetUser(login: "ada"), for: client)
    /// ```
    ///
    /// The client environment and the client settings are applied to the URL. Changes that custom links make are not.
    /// All variants are removed, as by ``remove(_:)``.
    ///
    /// - Throws: the errors of `HTTPClient.explain(_:)` if the request can't be built.
    public func remove(_ template: some RequestTemplate, for client: HTTPClient) async throws {
        if let url = CacheKey.url(of: try await client.explain(template).request) { remove(url: url) }
    }

    /// Removes all stored responses for a URL, for all credentials and all variants (`Vary`).
    ///
    /// If a request for the URL is in flight, its response isn't stored.
    ///
    /// A response that arrived after a redirect is stored under the URL that the redirect led to. Pass that URL to
    /// remove it.
    ///
    /// - Parameter url: a complete URL. Its fragment is ignored.
    public func remove(_ url: URL) {
        if let url = CacheKey.url(of: HTTPRequest(url: url)) { remove(url: url) }
    }

    /// Removes all stored responses for a URL and for all URLs below it (see ``remove(_:)``).
    ///
    /// `/users?page=2` and `/users/ada` are below `https://api.example.com/users`, but `/users-online` isn't. If the
    /// URL has a query, URLs with more query items at the end are below it.
    ///
    /// A store in files reads the head of each stored response for this, so the call takes longer than ``remove(_:)``.
    ///
    /// - Parameter url: a complete URL. Its fragment is ignored.
    public func removeAll(under url: URL) {
        guard let branch = CacheKey.url(of: HTTPRequest(url: url)).map({ CacheBranch(url: $0) }) else { return }
        state.withLock { $0.invalidate(where: branch.contains) }
        guarded {
            try storingLock.withLock { _ in
                for url in try storage.urls(withPrefix: branch.url) where branch.contains(url) {
                    try storage.remove(url: url)
                }
            }
        }
    }

    func remove(url: String) {
        state.withLock { $0.invalidate(url) }
        guarded { try storingLock.withLock { _ in try storage.remove(url: url) } }
    }
}

/// A URL and all URLs below it.
struct CacheBranch {
    let url: String

    func contains(_ other: String) -> Bool {
        guard other.begins(with: url) else { return false }
        let rest = other.utf8.dropFirst(url.utf8.count)
        let (ends, marks) = url.utf8.contains(UInt8(ascii: "?")) ? ("?&", "&") : ("/", "/?")
        let isOpen = url.utf8.last.map { ends.utf8.contains($0) } ?? true
        return isOpen || rest.first.map { marks.utf8.contains($0) } ?? true
    }
}
