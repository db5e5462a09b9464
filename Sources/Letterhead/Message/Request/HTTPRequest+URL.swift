public import Foundation

extension HTTPRequest {
    /// The path and the query for the request line (RFC 9112, 3.2.1): `/users/a%2Fb?page=2`.
    public var target: String {
        var text = path.isAbsolute ? path.string : "/" + path.string
        if !query.isEmpty {
            text += "?"
            text += query.escaped
        }
        return text
    }

    /// Returns the URL as a string, including the fragment. The percent-encoding of the request is not changed.
    ///
    /// - Throws: `.invalidRequest` if the request has no host.
    public func urlString() throws(HTTPError) -> String {
        guard host?.isEmpty == false else { throw missingHost }
        return ByteText.text(atMost: urlCapacity) { text in
            writeOrigin(to: &text)
            writeRest(to: &text)
        }
    }

    /// The largest number of bytes that the URL can have.
    var urlCapacity: Int {
        let optional = (host?.utf8.count ?? 0) + (userInfo?.utf8.count ?? 0) + (fragment?.utf8.count ?? 0)
        // The constant covers the delimiters and a port.
        return scheme.utf8.count + path.string.utf8.count + query.escapedCapacity + optional + 32
    }

    /// Appends the scheme, the user information, the host and the port.
    func writeOrigin(to text: inout ByteText) {
        text.append(scheme)
        text.append("://")
        if let userInfo {
            text.append(userInfo)
            text.append("@" as Unicode.Scalar)
        }
        if let host { text.append(host) }
        if let port {
            text.append(":" as Unicode.Scalar)
            text.append(port)
        }
    }

    /// Appends the path, the query and the fragment.
    func writeRest(to text: inout ByteText) {
        if !path.string.isEmpty, !path.isAbsolute { text.append("/" as Unicode.Scalar) }
        text.append(path.string)
        if !query.isEmpty {
            text.append("?" as Unicode.Scalar)
            query.write(to: &text)
        }
        if let fragment {
            text.append("#" as Unicode.Scalar)
            text.append(fragment)
        }
    }

    /// Returns the URL. The percent-encoding of the request is not changed.
    ///
    /// - Throws: `.invalidRequest` if the request has no host, or contains characters that a URL cannot contain.
    public func url() throws(HTTPError) -> URL {
        guard let url = URL(string: try urlString(), encodingInvalidCharacters: false) else {
            throw HTTPError(.invalidRequest, request: self, message: "the URL is malformed")
        }
        return url
    }

    var missingHost: HTTPError {
        HTTPError(
            .invalidRequest, request: self,
            message: "the request has no host: set baseURL in the template, an environment in the client, or a URL "
                + "with a scheme in the request; without a scheme, example.com/path is read as a path")
    }
}
