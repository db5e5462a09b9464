public import Foundation

extension HTTPAuthentication {
    /// A name and a password in the `Authorization` header (RFC 7617), as UTF-8.
    ///
    /// - Parameters:
    ///   - username: the name. With a colon or a control character in it, each request is `.invalidRequest`.
    ///   - password: the password, without control characters.
    ///   - allowedOrigins: where it may go. Default: nil, as ``HTTPAuthentication`` says.
    public static func basic(
        username: String, password: Secret, allowedOrigins: [URL]? = nil
    ) -> HTTPAuthentication {
        let value = BasicCredentials(username: username, password: password).headerValue
        return given("basic", value, in: .header(.authorization), allowedOrigins: allowedOrigins)
    }
}

/// A name and its password (RFC 7617).
struct BasicCredentials: Sendable, Hashable {
    /// The name; it can hold no colon.
    var username: String
    /// The password.
    var password: Secret

    /// `Basic …`, or the rule of RFC 7617, 2 that they break.
    var headerValue: Result<String, RefusedCredential> {
        if username.utf8.contains(UInt8(ascii: ":")) {
            return .failure(
                RefusedCredential("the username holds a colon, which RFC 7617 has between it and the password"))
        }
        let text = username + ":" + password.reveal()
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return .failure(RefusedCredential("the username or the password holds a control character"))
        }
        return .success("Basic " + Data(text.utf8).base64EncodedString())
    }
}

extension HTTPAuthentication {
    /// A token in the `Authorization` header (RFC 6750), and never anywhere else.
    ///
    /// - Parameters:
    ///   - token: the token. Empty, or with anything but visible ASCII in it, each request is `.invalidRequest`.
    ///   - allowedOrigins: where it may go. Default: nil, as ``HTTPAuthentication`` says.
    public static func bearer(_ token: Secret, allowedOrigins: [URL]? = nil) -> HTTPAuthentication {
        given("bearer", token.bearerHeaderValue, in: .header(.authorization), allowedOrigins: allowedOrigins)
    }
}

extension Secret {
    /// `Bearer …`, or the rule that the token breaks.
    var bearerHeaderValue: Result<String, RefusedCredential> {
        let token = reveal()
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return .failure(RefusedCredential("the bearer token is empty or holds something other than visible ASCII"))
        }
        return .success("Bearer " + token)
    }
}

extension HTTPAuthentication {
    /// A key in a header.
    ///
    /// - Parameters:
    ///   - key: the key. Empty, or with a control character in it, each request is `.invalidRequest`.
    ///   - header: the header, whose value is then redacted in every text. Default: `X-API-Key`.
    ///   - allowedOrigins: where it may go. Default: nil, as ``HTTPAuthentication`` says.
    public static func apiKey(
        _ key: Secret, header: HTTPHeaders.Name = "X-API-Key", allowedOrigins: [URL]? = nil
    ) -> HTTPAuthentication {
        apiKey(key, in: .header(header), allowedOrigins: allowedOrigins)
    }

    /// A key in the query, for servers that take it nowhere else: URLs end up in logs and histories on the way.
    ///
    /// - Parameters:
    ///   - key: the key. Empty, each request is `.invalidRequest`.
    ///   - name: the name of the query item, whose value is then redacted in every text, in forms and JSON too.
    ///   - allowedOrigins: where it may go. Default: nil, as ``HTTPAuthentication`` says.
    public static func apiKey(
        _ key: Secret, queryName name: String, allowedOrigins: [URL]? = nil
    ) -> HTTPAuthentication {
        apiKey(key, in: .query(name), allowedOrigins: allowedOrigins)
    }

    private static func apiKey(
        _ key: Secret, in place: CredentialPlace, allowedOrigins: [URL]?
    ) -> HTTPAuthentication {
        let isSendable =
            switch place {
            case .header: !key.isEmpty && key.reveal().utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            case .query: !key.isEmpty
            }
        let value: Result<String, RefusedCredential> =
            isSendable
            ? .success(key.reveal()) : .failure(RefusedCredential("the API key is empty or holds a control character"))
        return given("API key", value, in: place, allowedOrigins: allowedOrigins)
    }
}

/// A credential that was given beforehand, and where it is written; without a value when it breaks a rule.
struct GivenCredential: Hashable, Sendable {
    let place: CredentialPlace
    let value: Secret?
}

extension HTTPAuthentication {
    /// A method that writes one credential into each request.
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
