import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPURLResponse {
    /// How many bytes will come, when they come as they are counted.
    func knownLength(of method: HTTPMethod) -> Int? {
        if method == .head || statusCode == 204 || statusCode == 304 { return 0 }
        guard expectedContentLength >= 0, value(forHTTPHeaderField: "Content-Encoding") == nil else { return nil }
        return Int(exactly: expectedContentLength)
    }

    /// The response, saying nothing of a content coding that Foundation has undone.
    func response(to request: HTTPRequest, body: HTTPResponseBody) -> HTTPResponse {
        var fields: [String: String] = [:]
        for case (let name as String, let value as String) in allHeaderFields { fields[name] = value }
        var headers = HTTPHeaders(fields)
        if headers.contains(.contentEncoding) {
            headers[.contentEncoding] = nil
            headers[.contentLength] = nil
        }
        return HTTPResponse(request: request, status: HTTPStatus(statusCode), headers: headers, body: body)
    }
}
