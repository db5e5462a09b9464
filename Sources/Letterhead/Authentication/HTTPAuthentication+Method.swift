public import Foundation

extension HTTPAuthentication {
    /// A method of your own: a link that signs what it is given, and may look at the answer.
    ///
    /// ```swift
    /// .method("HMAC", allowedOrigins: [api], link: ModifyRequest { $0.headers.setSecret(sign($0), for: "X-Signature") })
    /// ```
    ///
    /// It is asked only for requests that its credentials belong to, for each attempt and each hop of a redirect. A reset
    /// reaches it. For credentials that are remembered, refreshed and shared by concurrent requests, write a
    /// ``CredentialProvider`` instead.
    ///
    /// The library cannot know what the link remembers. Without `allowedOrigins`, the link therefore signs for the first
    /// origin only that it was asked for, until a reset.
    ///
    /// - Parameters:
    ///   - name: what it prints as; no secret.
    ///   - allowedOrigins: where its credentials may go. Default: nil, as ``HTTPAuthentication`` says.
    ///   - link: signs the requests. What it sets by ``HTTPHeaders/setSecret(_:for:)``, or what the request's
    ///     ``HTTPRequest/redaction`` names, is in no text.
    public static func method(
        _ name: String, allowedOrigins: [URL]? = nil, link: some LoaderLink
    ) -> HTTPAuthentication {
        HTTPAuthentication(
            .method(
                SigningMethod(
                    name, place: nil, origins: AllowedOrigins(allowedOrigins), memory: .unknown(CredentialHome()),
                    link: link)))
    }
}
