// SPDX-License-Identifier: MIT

extension HTTPHeaders.Name {
    /// The purpose of a header field. Caches, signers, uploads and archives treat all fields of a class alike.
    ///
    /// - `connection`: belongs to one connection or one hop (RFC 9110, 7.6.1).
    /// - `content`: tells how to read the content. A different content has different values, and a 304 changes none.
    /// - `representation`: describes the representation in any other way, such as `Content-Language`.
    /// - `digest`: a digest of the content or the representation.
    /// - `signature`: proves who wrote the message. A different message has a different one.
    /// - `credential`: what links and clients add to identify a user.
    /// - `condition`: a condition for the request (RFC 9110, 13.1).
    /// - `trace`: identifies the request in traces and logs.
    /// - `way`: what links, transports and proxies write or change on the way.
    package enum Class: Sendable {
        case connection, content, representation, digest, signature, credential, condition, trace, way, other
    }

    package var fieldClass: Class {
        if let known = Self.classes[self] { return known }
        let name = ASCII.lowercased(rawValue)
        let start = Self.starts.first { name.begins(with: $0.0) }
        return start?.1 ?? (name.ends(with: "-signature") ? .signature : .other)
    }

    private static let starts = [
        ("content-", Class.representation), ("x-amz-checksum-", .digest), ("x-b3-", .trace),
    ]

    private static let classes: [HTTPHeaders.Name: Class] = [
        (
            Class.connection,
            """
            connection expect keep-alive proxy-authenticate proxy-authentication-info proxy-authorization \
            proxy-connection te trailer transfer-encoding upgrade
            """
        ),
        (.content, "content-encoding content-length content-range content-type"),
        (.digest, "content-digest content-md5 digest repr-digest upload-checksum x-amz-content-sha256"),
        (.signature, "dpop signature signature-input"), (.credential, "authorization cookie set-cookie"),
        (.condition, "if-match if-modified-since if-none-match if-range if-unmodified-since"),
        (
            .trace,
            """
            b3 baggage traceparent tracestate x-amzn-trace-id x-cloud-trace-context x-correlation-id x-request-id \
            x-trace-id
            """
        ),
        (.way, "accept accept-encoding cache-control from pragma referer user-agent via"),
    ].reduce(into: [:]) { classes, row in
        for name in row.1.split(at: " ") { classes[HTTPHeaders.Name(String(name))] = row.0 }
    }
}
