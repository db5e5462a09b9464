// SPDX-License-Identifier: MIT
public import LetterheadFoundation

#if Foundation && canImport(FoundationEssentials)
    import Foundation
#endif

extension HTTPAuthentication {
    /// Sends a username and a password in the `Authorization` header (RFC 7617), encoded as UTF-8.
    ///
    /// If one of them contains a control character, or the username a colon, each request fails with `.invalidRequest`.
    /// See ``HTTPAuthentication`` for `allowedOrigins`.
    public static func basic(username: String, password: Secret, allowedOrigins: [URL]? = nil) -> HTTPAuthentication {
        let value = BasicCredentials(username: username, password: password).headerValue
        return given("basic", value, in: .header(.authorization), allowedOrigins: allowedOrigins)
    }
}

struct BasicCredentials: Sendable, Hashable {
    /// Cannot contain a colon.
    var username: String
    var password: Secret

    /// `Basic …`, or the rule of RFC 7617, 2 that the credentials break.
    var headerValue: Result<String, RefusedCredential> {
        if username.utf8.contains(UInt8(ascii: ":")) {
            return .failure(
                RefusedCredential("the username contains a colon, which separates it from the password (RFC 7617)"))
        }
        guard let pair = HTTPAuthentication.composed(username + ":" + password.reveal()) else {
            return .failure(RefusedCredential("the username or the password contains a control character"))
        }
        return .success("Basic " + Data(pair.utf8).base64EncodedString())
    }
}

extension HTTPAuthentication {
    /// Returns a username or a password in composed form, so that a letter with an accent has the same bytes however it
    /// was typed (RFC 7617, 2.1 and RFC 7616, 4). Nil if it contains a control character.
    package static func composed(_ text: String) -> String? {
        #if Foundation || canImport(Darwin)
            let text = text.precomposedStringWithCanonicalMapping
        #endif
        return text.unicodeScalars.contains { $0.properties.generalCategory == .control } ? nil : text
    }
}

extension HTTPAuthentication {
    /// Sends a fixed token in the `Authorization` header (RFC 6750).
    ///
    /// If it is empty or contains anything but visible ASCII, each request fails with `.invalidRequest`. See
    /// ``HTTPAuthentication`` for `allowedOrigins`.
    public static func bearer(_ token: Secret, allowedOrigins: [URL]? = nil) -> HTTPAuthentication {
        given("bearer", token.bearerHeaderValue, in: .header(.authorization), allowedOrigins: allowedOrigins)
    }
}

extension HTTPAuthentication {
    /// Sends the bearer token that a closure returns for each attempt and each redirect.
    ///
    /// ```swift
    /// .bearer(each: { await session.accessToken })
    /// ```
    ///
    /// Use it if a different part of the program keeps the token, as an SDK for sign-in does. For a token that the
    /// library fetches once and renews after a 401, use ``bearer(allowedOrigins:limit:per:clock:asking:)``.
    ///
    /// - Nothing is stored, and a 401 is returned to the caller.
    /// - If the closure returns nil, the request is sent without credentials, unless it requires them
    ///   (``Requirement/required``).
    /// - If the closure throws, or the token is malformed, the request fails and isn't sent.
    /// - ``Deduplicate`` above the authentication doesn't share the responses, because the tokens of two requests may
    ///   belong to different users. It shares them only by a ``Deduplicate/Settings/key(_:)``: include the user in the
    ///   key.
    public static func bearer(
        each token: @escaping @Sendable () async throws -> Secret?, allowedOrigins: [URL]? = nil
    ) -> HTTPAuthentication {
        HTTPAuthentication(
            .method(
                SigningMethod(
                    "bearer", place: .header(.authorization), origins: AllowedOrigins(allowedOrigins), memory: .none,
                    link: ModifyRequest { request in
                        do {
                            if let token = try await token() {
                                let value = try token.bearerHeaderValue.get()
                                return CredentialPlace.header(.authorization).put(value, into: &request)
                            }
                            let nothing = Failure(.noCredentials, "the closure returned no token")
                            if request.authenticationRequirement == .required { throw nothing }
                            request = request.unsigned(because: nothing.message)
                        } catch { throw HTTPError(signing: error, request: request) }
                    })))
    }
}

extension Secret {
    /// `Bearer …`, or the rule that the token breaks.
    var bearerHeaderValue: Result<String, RefusedCredential> {
        let token = reveal()
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return .failure(
                RefusedCredential("the bearer token is empty or contains characters other than visible ASCII"))
        }
        return .success("Bearer " + token)
    }
}

extension HTTPAuthentication {
    /// Sends an API key in a header, which all descriptions redact.
    ///
    /// If the key is empty or contains a control character, each request fails with `.invalidRequest`. See
    /// ``HTTPAuthentication`` for `allowedOrigins`.
    public static func apiKey(
        _ key: Secret, header: HTTPHeaders.Name = "X-API-Key", allowedOrigins: [URL]? = nil
    ) -> HTTPAuthentication {
        apiKey(key, in: .header(header), allowedOrigins: allowedOrigins)
    }

    /// Sends an API key in the query. Use it only for servers that don't accept the key in a header, because URLs are
    /// stored in logs and histories.
    ///
    /// All descriptions redact the values of query items, form fields and JSON members with this name. If the key is
    /// empty, each request fails with `.invalidRequest`. See ``HTTPAuthentication`` for `allowedOrigins`.
    public static func apiKey(
        _ key: Secret, queryName name: String, allowedOrigins: [URL]? = nil
    ) -> HTTPAuthentication {
        apiKey(key, in: .query(name), allowedOrigins: allowedOrigins)
    }

    private static func apiKey(_ key: Secret, in place: CredentialPlace, allowedOrigins: [URL]?) -> HTTPAuthentication {
        let isSendable =
            switch place {
            case .header: !key.isEmpty && key.reveal().utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            case .query: !key.isEmpty
            }
        let value: Result<String, RefusedCredential> =
            isSendable
            ? .success(key.reveal())
            : .failure(RefusedCredential("the API key is empty or contains a control character"))
        return given("API key", value, in: place, allowedOrigins: allowedOrigins)
    }
}

/// A fixed credential, and the header or query item that contains it. The value is nil if the credential is malformed.
struct GivenCredential: Hashable, Sendable {
    let place: CredentialPlace
    let value: Secret?
}

extension HTTPAuthentication {
    static func given(
        _ name: String, _ credential: Result<String, RefusedCredential>, in place: CredentialPlace,
        allowedOrigins: [URL]?
    ) -> HTTPAuthentication {
        let value = (try? credential.get()).map { Secret($0) }
        return HTTPAuthentication(
            .method(
                SigningMethod(
                    name, place: place, origins: AllowedOrigins(allowedOrigins),
                    memory: .given(GivenCredential(place: place, value: value)),
                    link: SignRequest(credential, in: place))))
    }
}

enum CredentialPlace: Hashable, Sendable {
    case header(HTTPHeaders.Name)
    case query(String)

    func isFilled(in request: HTTPRequest) -> Bool {
        switch self {
        case .header(let name): request.headers.contains(name)
        case .query(let name): request.query.contains(name)
        }
    }

    /// Replaces the credential in the request. Marks it as secret, so that all descriptions of the request and the
    /// response redact it.
    func put(_ credential: String, into request: inout HTTPRequest) {
        switch self {
        case .header(let name):
            request.headers.setSecret(credential, for: name)
            if !request.redaction.headers.contains(name) {
                request.redaction = request.redaction.adding(headers: [name])
            }
        case .query(let name):
            request.query.setSecret(credential, for: name)
            if !request.redaction.isSecret(parameter: name) {
                request.redaction = request.redaction.adding(parameters: [name])
            }
        }
    }
}

struct SignRequest: LoaderLink {
    private let sign: @Sendable (inout HTTPRequest) throws -> Void

    init(_ sign: @escaping @Sendable (inout HTTPRequest) throws -> Void) { self.sign = sign }

    init(_ credential: Result<String, RefusedCredential>, in place: CredentialPlace) {
        sign = { request in place.put(try credential.get(), into: &request) }
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var signed = request
        do { try sign(&signed) } catch { throw HTTPError(signing: error, request: request) }
        return try await next.load(signed)
    }
}

/// The rule that a malformed credential breaks, without the credential.
struct RefusedCredential: Error, CustomStringConvertible {
    let description: String

    init(_ rule: String) { description = rule }
}

extension HTTPError {
    package init(signing error: any Error, request: HTTPRequest) {
        switch error {
        case let error as HTTPError: self = error
        case let error as RefusedCredential:
            self.init(.invalidRequest, request: request, message: error.description)
        case is CancellationError:
            self.init(.cancelled, request: request, underlying: error, mayHaveBeenSent: false)
        default:
            self.init(
                .cannotAuthenticate, request: request, underlying: error, message: Self.summary(of: error),
                mayHaveBeenSent: false)
        }
    }
}
