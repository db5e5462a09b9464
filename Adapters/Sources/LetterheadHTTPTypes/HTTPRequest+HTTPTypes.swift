// SPDX-License-Identifier: MIT
public import HTTPTypes
public import Letterhead

extension HTTPTypes.HTTPRequest {
    /// Creates the head that a transport sends for a request.
    ///
    /// It has the method, the scheme, the authority, the path with the query as the request writes them, and the header
    /// fields of the request and of its body. If the request has no host, the head has neither a scheme nor an
    /// authority.
    ///
    /// A `Content-Length` that the body determines isn't among the fields: use the length of `framedBody()`.
    ///
    /// - Throws: `.invalidRequest` if the method, a name or a value can't be sent, or if the URL has a user or
    ///   password.
    public init(_ request: Letterhead.HTTPRequest) throws(HTTPError) {
        guard let method = Method(request.method.rawValue) else {
            throw HTTPError(.invalidRequest, request: request, message: "the method is not a token (RFC 9110)")
        }
        guard request.userInfo == nil else {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "the URL contains a user or password (use HTTPAuthentication)")
        }
        let headers = request.framedHeaders()
        guard let fields = HTTPFields(headers) else {
            let name = headers.first { HTTPField($0) == nil }?.name.rawValue ?? ""
            throw HTTPError(
                .invalidRequest, request: request,
                message: HTTPField.Name(name) == nil
                    ? "the name of a header is not a token (RFC 9110)"
                    : "the value of the header \(name) contains a control character (CR, LF, NUL …)")
        }
        let authority = request.authority
        self.init(
            method: method, scheme: authority == nil ? nil : request.scheme, authority: authority,
            path: request.target, headerFields: fields)
    }
}

extension Letterhead.HTTPRequest {
    /// Creates a request with a head and a body.
    ///
    /// Path, query and escapes are sent unchanged, and the fields keep their order and spelling. If the scheme is
    /// missing, it is https. If the authority is missing, the client environment adds the host.
    ///
    /// ```swift
    /// let request = try HTTPRequest(HTTPTypes.HTTPRequest(method: .get, url: url), body: DataBody(data))
    /// let response = try await client.send(request)
    /// ```
    ///
    /// - Parameters:
    ///   - head: the pseudo-header fields and the header fields.
    ///   - body: the body. Default: empty.
    /// - Throws: `.invalidRequest` for a head that a client doesn't send: CONNECT and its `:protocol`, the path `*`, or
    ///   an authority that isn't a host with an optional port.
    public init(_ head: HTTPTypes.HTTPRequest, body: any HTTPBody = EmptyBody()) throws(HTTPError) {
        var request = Self()
        if let authority = head.authority {
            request = try Self("\(head.scheme ?? "https")://\(authority)")
            guard request.authority?.utf8.elementsEqual(authority.utf8) == true, request.userInfo == nil else {
                throw HTTPError(
                    .invalidRequest, request: Self(), message: "the authority is not a host with an optional port")
            }
        } else if let scheme = head.scheme {
            request.scheme = scheme
        }
        request.method = HTTPMethod(head.method.rawValue)
        guard head.method != .connect, head.extendedConnectProtocol == nil else {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "CONNECT is reserved for proxies (set a proxy in the TransportConfiguration)")
        }
        if let target = head.path, !target.isEmpty {
            guard target != "*" else {
                throw HTTPError(.invalidRequest, request: request, message: "the path * is not supported")
            }
            let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
            let path = parts.first.map { String(Substring($0)) } ?? ""
            request.path = RequestPath(escaped: path.isEmpty ? "/" : path, route: nil)
            if parts.count > 1 {
                let query = String(Substring(parts[1]))
                // If the target ends with the question mark, it keeps it.
                request.query = query.isEmpty ? QueryParameters([.init("", nil)]) : QueryParameters(escaped: query)
            }
        }
        request.headers = HTTPHeaders(head.headerFields)
        request.body = body
        self = request
    }
}
