public import Foundation

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
