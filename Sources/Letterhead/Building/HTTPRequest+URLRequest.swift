#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension HTTPRequest {
    /// The request for Foundation: URL, method, headers, body and timeout.
    ///
    /// The request's own ``serverEnvironment`` is applied first. What a `URLRequest` cannot hold: several fields of one
    /// name are joined by `, ` (those of `Cookie` by `; `); on Linux names are re-capitalised and their order is lost; a
    /// method that Foundation knows is written in upper case; a streamed body is refused, and a file is read into memory;
    /// options other than the timeout, and the ``id``, are left behind.
    ///
    /// - Throws: `.invalidRequest` for whatever ``validate()`` refuses, and when the body cannot be encoded.
    public func urlRequest() throws(HTTPError) -> URLRequest {
        // Asked first, because even no environment is large to copy.
        guard options.contains(ServerEnvironmentOption.self), let serverEnvironment else { return try lowered() }
        var request = self
        serverEnvironment.apply(to: &request)
        return try request.lowered()
    }

    private func lowered() throws(HTTPError) -> URLRequest {
        try validate()
        var urlRequest = URLRequest(url: try url())
        if method != .get { urlRequest.httpMethod = method.rawValue }
        urlRequest.allHTTPHeaderFields = framedHeaders().joined
        if let timeout { urlRequest.timeoutInterval = timeout / .seconds(1) }
        if !body.isEmpty {
            do { urlRequest.httpBody = try body.encode() } catch { throw HTTPError(ofBody: error, request: self) }
        }
        return urlRequest
    }

    /// A request of Foundation's as a request of ours: URL, method, headers, body and timeout.
    ///
    /// The default timeout of Foundation, 60 s, is taken as none of its own; a longer one than a century counts as a
    /// century.
    ///
    /// A Content-Length that is the body's is left out, and written again when the request is sent.
    ///
    /// - Throws: `.invalidRequest` when it has no URL, another Content-Length than its body's, a timeout that is no number,
    ///   or a body stream, which can be read only once and not be known.
    public init(_ urlRequest: URLRequest) throws(HTTPError) {
        self.init()
        guard let url = urlRequest.url else {
            throw HTTPError(.invalidRequest, request: self, message: "the URLRequest has no URL")
        }
        self.init(method: HTTPMethod(urlRequest.httpMethod ?? "GET"), url: url)
        headers = HTTPHeaders(urlRequest.allHTTPHeaderFields ?? [:])
        timeout = try timeout(ofFoundation: urlRequest.timeoutInterval)
        if let data = urlRequest.httpBody { body = DataBody(data) }
        try removeLength(of: urlRequest)
        if urlRequest.httpBody == nil, urlRequest.httpBodyStream != nil {
            throw HTTPError(
                .invalidRequest, request: self,
                message: "the URLRequest has a body stream; give the request a StreamBody")
        }
    }

    /// The length is written anew when the request is sent; one that is another than the body's must not get lost.
    private mutating func removeLength(of urlRequest: URLRequest) throws(HTTPError) {
        guard let length = headers[.contentLength] else { return }
        guard Int(length) == urlRequest.httpBody?.count ?? 0 else {
            throw HTTPError(
                .invalidRequest, request: self, message: "the Content-Length of the URLRequest is not its body's")
        }
        headers[.contentLength] = nil
    }

    private func timeout(ofFoundation seconds: TimeInterval) throws(HTTPError) -> Duration? {
        if seconds == 60 { return nil }
        guard !seconds.isNaN else {
            throw HTTPError(.invalidRequest, request: self, message: "the timeout of the URLRequest is not a number")
        }
        // Foundation says "never" by infinity or the greatest number, which a Duration cannot hold.
        let century = 100 * 365.25 * 86_400
        return .seconds(max(-century, min(seconds, century)))
    }
}

extension HTTPHeaders {
    /// The fields as a dictionary, those of one name joined.
    var joined: [String: String] {
        // An empty dictionary with room for all costs more than one that is made of the fields.
        let joined = Dictionary(fields.lazy.map { ($0.name.rawValue, $0.value) }) { earlier, _ in earlier }
        guard hasRepeatedName else { return joined }
        var groups: [Name: (spelling: String, values: [String])] = [:]
        for field in fields { groups[field.name, default: (field.name.rawValue, [])].values.append(field.value) }
        return Dictionary(
            uniqueKeysWithValues: groups.map { name, group in
                (group.spelling, group.values.joined(separator: name == .cookie ? "; " : ", "))
            })
    }

    /// Few names are compared with each other, which costs less than to hash them.
    private var hasRepeatedName: Bool {
        guard fields.count <= 16 else { return Set(fields.lazy.map(\.name)).count < fields.count }
        return fields.indices.contains { index in
            fields[..<index].contains { $0.name == fields[index].name }
        }
    }
}
