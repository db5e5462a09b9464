// SPDX-License-Identifier: MIT
#if Foundation && canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking
    import Letterhead

    /// Sends and stores cookies with the cookie storage of Foundation, so that code that reads, sets or deletes cookies
    /// there works.
    ///
    /// The rules are the same as with `CookieJar` (RFC 6265bis).
    struct StoreCookies: LoaderLink {
        /// The maximum number of cookies that a server may store for its host.
        private static let limit = 180

        private let storage: HTTPCookieStorage
        private let isSending: Bool
        private let isStoring: Bool

        /// Returns nil if the configuration has no cookie storage.
        init?(_ configuration: URLSessionConfiguration) {
            guard let storage = configuration.httpCookieStorage else { return nil }
            self.storage = storage
            isSending = configuration.httpShouldSetCookies
            isStoring = configuration.httpCookieAcceptPolicy != .never
        }

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            guard request.handlesCookies, let url = try? request.url() else { return try await next.load(request) }
            var sent = request
            if isSending, let text = text(for: request, to: url) { sent.headers.setSecret(text, for: .cookie) }
            let response = try await next.load(sent)
            if isStoring { store(response.newSetCookies.isEmpty ? [] : response.cookies, from: url) }
            return response
        }

        /// Returns the cookies that the request has, followed by stored cookies with other names.
        private func text(for request: HTTPRequest, to url: URL) -> String? {
            let own = request.headers[.cookie]
            let names = (own ?? "").utf8.split(separator: UInt8(ascii: ";")).map { pair in
                String(Substring(pair.drop { $0 <= 0x20 }.prefix { $0 != UInt8(ascii: "=") && $0 > 0x20 }))
            }
            let stored = (storage.cookies(for: url) ?? []).filter { cookie in
                !names.contains(cookie.name) && (!cookie.isSecure || request.origin?.isSecure == true)
                    && cookie.expiresDate.map { $0 > Date() } ?? true && cookie.includes(path: url.path)
                    && cookie.isSendable
            }
            // The longest path first (RFC 6265, 5.4).
            let pairs = stored.sorted { ($0.path.count, $1.name) > ($1.path.count, $0.name) }
                .map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
            return pairs.isEmpty ? nil : ((own.map { [$0] } ?? []) + pairs).joined(separator: "; ")
        }

        private func store(_ cookies: [CookieJar.Cookie], from url: URL) {
            for cookie in cookies {
                var properties: [HTTPCookiePropertyKey: Any] = [
                    .name: cookie.name, .value: cookie.value, .path: cookie.path,
                    .domain: cookie.isHostOnly ? cookie.domain : ".\(cookie.domain)",
                ]
                if cookie.isSecure { properties[.secure] = "TRUE" }
                if let expires = cookie.expires { properties[.expires] = expires }
                guard let stored = HTTPCookie(properties: properties) else { continue }
                let known = storage.cookies(for: url) ?? []
                let isKnown = known.contains { $0.name == stored.name && $0.path == stored.path }
                if isKnown || known.count < Self.limit { storage.setCookie(stored) }
            }
        }
    }

    extension HTTPCookie {
        /// Returns whether requests for a path receive the cookie (RFC 6265, 5.1.4).
        fileprivate func includes(path: String) -> Bool {
            let (path, own, slash) = ((path.isEmpty ? "/" : path).utf8, self.path.utf8, UInt8(ascii: "/"))
            return path.starts(with: own)
                && (path.count == own.count || own.last == slash || path.dropFirst(own.count).first == slash)
        }

        /// Whether a header field can contain the cookie. The storage accepts any string from a program.
        fileprivate var isSendable: Bool {
            "\(name)\(value)".utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x3B }
        }
    }
#endif
