extension ModifyRequest {
    /// A link that sets `Accept` (RFC 9110, 12.5.1) to the media types of the request's decoder, if the header is not set.
    ///
    /// A client contains it. In a custom chain, put it below the environment, so that headers of the template and the
    /// environment take precedence:
    ///
    /// ```swift
    /// let chain = ApplyEnvironment(.production) --> ModifyRequest.acceptHeader --> HTTPClient.defaultTransport
    /// ```
    ///
    /// The header is not set if the response is not decoded (``HTTPRequest/isDecoded``), or if the request has no
    /// ``HTTPRequest/decoder`` that declares types.
    public static var acceptHeader: ModifyRequest {
        ModifyRequest(named: "acceptHeader") { request in
            guard request.isDecoded, !request.headers.contains(.accept) else { return }
            let types = request.decoder?.mediaTypes ?? []
            if !types.isEmpty { request.headers[.accept] = list(of: types) }
        }
    }

    // One buffer is used, because this runs for every request and `joined` is several times slower.
    private static func list(of types: [MediaType]) -> String {
        ByteText.text(atMost: types.reduce(0) { $0 + $1.description.utf8.count + 2 }) { list in
            for place in types.indices {
                if place > 0 { list.append(", ") }
                list.append(types[place].description)
            }
        }
    }
}
