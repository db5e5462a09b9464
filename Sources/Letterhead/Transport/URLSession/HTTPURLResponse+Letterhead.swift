import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPURLResponse {
    /// Returns the length of the body; nil if it is not known or if Foundation decompresses the body.
    func knownLength(of method: HTTPMethod) -> Int? {
        if method == .head || statusCode == 204 || statusCode == 304 { return 0 }
        guard expectedContentLength >= 0, value(forHTTPHeaderField: "Content-Encoding") == nil else { return nil }
        return Int(exactly: expectedContentLength)
    }

    /// Returns the response without the headers of content codings that Foundation has decompressed.
    func response(to request: HTTPRequest, body: HTTPResponseBody) -> HTTPResponse {
        var fields: [String: String] = [:]
        for case (let name as String, let value as String) in allHeaderFields { fields[name] = value }
        var headers = HTTPHeaders(fields)
        if let codings = headers[.contentEncoding], request.method != .head, Self.areUndone(codings) {
            headers[.contentEncoding] = nil
            headers[.contentLength] = nil
        }
        return HTTPResponse(request: request, status: HTTPStatus(statusCode), headers: headers, body: body)
    }

    private static func areUndone(_ codings: String) -> Bool {
        ASCII.members(of: [codings]).allSatisfy { undoneCodings.contains(ASCII.keyword($0)) }
    }

    /// The content codings that Foundation decompresses. On Linux, Foundation offers the codings of its libcurl, and a
    /// response with any other coding fails.
    #if canImport(FoundationNetworking)
        private static let undoneCodings: Set = ["gzip", "x-gzip", "deflate", "br", "zstd", "identity"]
    #else
        private static let undoneCodings: Set = ["gzip", "x-gzip", "deflate", "br", "identity"]
    #endif
}
