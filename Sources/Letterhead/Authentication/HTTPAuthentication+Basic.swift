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
