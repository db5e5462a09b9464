public import Foundation

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
