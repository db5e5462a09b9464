// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

extension OAuth2 {
    /// Finds the authorization server for an API that you know only at run time, such as a remote MCP server.
    ///
    /// ```swift
    /// let session = try OAuth2.Session(
    ///     client: OAuth2.Client(id: "app"), server: try await OAuth2.discovered(from: api),
    ///     signIn: .deviceCode { print($0.userCode, $0.verificationURL) })
    /// ```
    ///
    /// The discovery takes these steps:
    ///
    /// 1. It sends a request without credentials to the API.
    /// 2. It loads the API metadata (RFC 9728) from the `resource_metadata` URL in the 401 response, or else from a
    ///    well-known URL. This metadata names the authorization server.
    /// 3. It loads the server metadata (RFC 8414). A session with this server then requests tokens for this API only
    ///    (RFC 8707).
    ///
    /// - Parameters:
    ///   - resource: the API URL. It must use https, or be on this machine.
    ///   - issuer: the issuer identifier of the authorization server, if you know it. If the API names only other
    ///     servers, the discovery fails. If the API has no metadata, this issuer is used. Pass it for a client with a
    ///     secret: without it, an API could name any server and so obtain the secret. Default: nil (the first issuer
    ///     that the API names).
    ///   - loader: sends the requests. Default: the default transport, which doesn't follow redirects.
    /// - Throws: `HTTPAuthentication.Failure` if a server can't be reached, or if its metadata is missing or invalid.
    public static func discovered(
        from resource: URL, issuer: String? = nil, over loader: any HTTPLoader = HTTPClient.defaultTransport
    ) async throws -> Server {
        let discovery = Discovery(loader: loader)
        try discovery.requireSecure(resource)
        return try await discovery.server(of: resource, after: discovery.response(from: resource), issuer: issuer)
    }

    /// Finds the endpoints of an authorization server whose issuer identifier you know (RFC 8414, or OpenID Connect
    /// Discovery).
    ///
    /// - Parameters:
    ///   - issuer: the identifier exactly as it occurs in the server metadata, such as `https://auth.example.com`.
    ///   - loader: sends the requests. Default: the default transport, which doesn't follow redirects.
    /// - Throws: `HTTPAuthentication.Failure` if the server can't be reached, or if its metadata is missing or invalid.
    public static func discovered(
        issuer: String, over loader: any HTTPLoader = HTTPClient.defaultTransport
    ) async throws -> Server {
        try await Discovery(loader: loader).server(issuer: issuer, namedBy: nil)
    }
}

/// Finds an authorization server and its endpoints by requests for metadata documents. These contain no credentials.
private struct Discovery {
    typealias Failure = HTTPAuthentication.Failure

    /// The largest metadata document, in bytes.
    private static let longestDocument = 1 << 20

    let loader: any HTTPLoader

    func requireSecure(_ url: URL) throws(Failure) {
        guard url.origin?.isSecure == true else {
            throw Failure(.misconfigured, "\(url.place) does not use https, so an attacker could replace its metadata")
        }
    }

    func server(
        of resource: URL, after response: HTTPResponse, issuer: String?
    ) async throws(Failure) -> OAuth2.Server {
        let challenge = response.challenges.first { $0["resource_metadata"] != nil }
        let scope = response.challenges.lazy.compactMap { $0["scope"] }.first
            .map { OAuth2.Server.scopes($0.split(at: " ").map(String.init)) }
        guard let (metadata, source) = try await metadata(of: resource, linkedBy: challenge?["resource_metadata"])
        else {
            guard let issuer else {
                throw Failure(
                    .malformed,
                    "\(resource.place) does not name an authorization server (pass the issuer to discovered)")
            }
            var server = try await server(issuer: issuer, namedBy: nil)
            (server.resource, server.scope) = (resource, scope ?? [])
            return server
        }
        let named = metadata["authorization_servers"]?.array?.compactMap(\.string) ?? []
        let isKnown = { (name: String) in issuer.map { $0.utf8.elementsEqual(name.utf8) } ?? true }
        guard let chosen = named.first(where: isKnown) else {
            throw Failure(
                .refused,
                "\(resource.place) does not name \(issuer == nil ? "an" : "the expected") authorization server")
        }
        var server = try await server(issuer: chosen, namedBy: source)
        server.resource = metadata["resource"]?.string.flatMap { URL(string: $0, encodingInvalidCharacters: false) }
        server.scope = scope ?? OAuth2.Server.scopes(metadata["scopes_supported"]?.array?.compactMap(\.string) ?? [])
        server.isNamedByResource = issuer == nil
        return server
    }

    /// Returns the API metadata and the URL where it was found, or nil if the API has none.
    private func metadata(
        of resource: URL, linkedBy link: String?
    ) async throws(Failure) -> (document: [String: JSONValue], source: URL)? {
        var places: [URL] = []
        if let link {
            guard let url = URL(string: link, encodingInvalidCharacters: false), url.canFollow(resource) else {
                throw Failure(
                    .malformed, "the resource_metadata in the challenge of \(resource.place) is not an https URL")
            }
            places = [url]
        } else {
            // The resource path and query follow the well-known path (RFC 9728, 3.1).
            let own = resource.pathAndQuery
            let paths = own.isSame(as: "/") || own.isEmpty ? [""] : [own, ""]
            places = paths.compactMap { resource.wellKnown("/.well-known/oauth-protected-resource\($0)") }
        }
        for place in places {
            guard let document = try await document(at: place, namedBy: resource) else { continue }
            guard let named = document["resource"]?.string, resource.isDescribed(as: named, at: place) else {
                throw Failure(
                    .malformed, "the metadata at \(place.place) describes a different resource (RFC 9728, 3.3)")
            }
            return (document, place)
        }
        return nil
    }

    /// - Parameter source: the URL of the document that named the issuer, or nil if the caller named it.
    func server(issuer: String, namedBy source: URL?) async throws(Failure) -> OAuth2.Server {
        guard let url = OAuth2.Server.url(ofIssuer: issuer, namedBy: source) else {
            throw Failure(
                source == nil ? .misconfigured : .malformed, "an issuer identifier \(OAuth2.Server.issuerRule)")
        }
        var path = HTTPRequest(url: url).path.string
        if path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        // The last URL is from OpenID Connect Discovery, 4. The others are from RFC 8414, 3.1 and 5.
        var places = ["/.well-known/oauth-authorization-server\(path)", "/.well-known/openid-configuration\(path)"]
        if !path.isEmpty { places.append("\(path)/.well-known/openid-configuration") }
        for place in places.compactMap({ url.wellKnown($0) }) {
            guard let document = try await document(at: place, namedBy: source) else { continue }
            // Identifiers are compared byte for byte (RFC 8414, 3.3), so that a server can't pass for a different
            // server.
            guard let named = document["issuer"]?.string, named.utf8.elementsEqual(issuer.utf8) else {
                throw Failure(.malformed, "the metadata at \(place.place) describes a different issuer (RFC 8414, 3.3)")
            }
            return try OAuth2.Server(metadata: document, issuer: issuer, from: place)
        }
        throw Failure(.malformed, "the authorization server at \(url.place) publishes no metadata (RFC 8414)")
    }

    /// Returns the members in a JSON document, or nil if there is no such document. For an unknown path, a server may
    /// respond with any page, so a page that isn't JSON counts as no document.
    private func document(at url: URL, namedBy source: URL?) async throws(Failure) -> [String: JSONValue]? {
        let response = try await response(from: url, namedBy: source)
        guard response.status.code < 500 else {
            throw Failure(.unavailable, "\(url.place) responded with \(response.status)", status: response.status)
        }
        guard response.status == .ok else { return nil }
        do {
            let data = try await response.body.data(upTo: Self.longestDocument)
            return ServerAnswer(data, allowsForm: false)?.members
        } catch {
            throw Failure(.unavailable, "the metadata at \(url.place) is truncated or too large", underlying: error)
        }
    }

    /// - Parameter source: the URL of the server that named this URL. Default: nil (the caller named it).
    func response(from url: URL, namedBy source: URL? = nil) async throws(Failure) -> HTTPResponse {
        var request = HTTPRequest(url: source ?? url)
        request.authentication = .anonymous
        request.headers[.accept] = "application/json"
        request.timeout = .seconds(30)
        request.responseLimit = Self.longestDocument
        // Without authentication, an API may respond with a stream that never ends.
        request.responseDelivery = .streamed
        if source != nil {
            do { request = try request.moved(to: url) } catch {
                throw Failure(
                    .malformed, "no metadata was requested from \(url.place), which is invalid or does not use https")
            }
        }
        request.fragment = nil
        do {
            return try await loader.load(request)
        } catch {
            throw Failure(.unavailable, "\(url.place) could not be reached: \(error.message)", underlying: error)
        }
    }
}

extension URL {
    /// The origin, for error messages.
    fileprivate var place: String { origin?.description ?? "a URL without a host" }

    /// Returns a URL with this path at the same origin.
    fileprivate func wellKnown(_ path: String) -> URL? {
        origin.flatMap { URL(string: $0.description + path, encodingInvalidCharacters: false) }
    }

    /// The path and the query, byte for byte.
    fileprivate var pathAndQuery: String {
        let parts = URLParts(absoluteString)
        return parts.path + (parts.query.map { "?" + $0 } ?? "")
    }

    /// Returns whether the metadata at a URL may describe this resource.
    ///
    /// Usually, it must contain the same URL (RFC 9728, 3.3). Many servers have one identifier for all their endpoints.
    /// The metadata may therefore also describe a parent at the same origin, but only if it was found at the well-known
    /// URL of that parent. Otherwise, one of several tenants on a host could obtain tokens for the whole host.
    fileprivate func isDescribed(as identifier: String, at place: URL) -> Bool {
        guard let other = URL(string: identifier, encodingInvalidCharacters: false), other.origin == origin,
            !other.hasUserPart, other.fragment == nil
        else { return false }
        let (own, named) = (URLParts(absoluteString), URLParts(other.absoluteString))
        var (path, parent) = (own.path, named.path)
        if path.utf8.last != UInt8(ascii: "/") { path += "/" }
        if parent.utf8.last != UInt8(ascii: "/") { parent += "/" }
        if path.isSame(as: parent), own.query.bytes == named.query.bytes { return true }
        let home = other.wellKnown("/.well-known/oauth-protected-resource\(parent.dropLast())")
        return named.query == nil && path.utf8.starts(with: parent.utf8)
            && home?.absoluteString.isSame(as: place.absoluteString) == true
    }
}
