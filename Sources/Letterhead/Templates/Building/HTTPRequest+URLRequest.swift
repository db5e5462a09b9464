// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    #if canImport(FoundationNetworking)
        import Foundation
        public import FoundationNetworking
    #else
        public import LetterheadFoundation
    #endif

    extension HTTPRequest {
        /// Converts the request to a `URLRequest` with its URL, method, headers and body. The
        /// ``RequestSettings/idleTimeout`` becomes the `timeoutInterval`, because both limit the time without a byte.
        ///
        /// If the request has a ``RequestSettings/serverEnvironment``, it is applied first. A `URLRequest` cannot
        /// represent every request:
        ///
        /// - Header fields with the same name are joined with `, `, and `Cookie` fields with `; `.
        /// - On Linux, the capitalization and the order of header names are lost.
        /// - Methods that Foundation knows are written in upper case.
        /// - A streamed body is an error, and a file is read into memory.
        /// - The ``id``, and all options other than the idle timeout, are lost, also ``RequestSettings/timeout``.
        ///
        /// - Throws: `.invalidRequest` if ``validate()`` throws or the body cannot be encoded.
        public func urlRequest() throws(HTTPError) -> URLRequest {
            // Checked first, because even an empty environment is expensive to copy.
            guard options.contains(ServerEnvironment.self), let serverEnvironment else { return try lowered() }
            var request = self
            try serverEnvironment.complete(&request)
            return try request.lowered()
        }

        private func lowered() throws(HTTPError) -> URLRequest {
            try validate()
            var urlRequest = URLRequest(url: try url())
            if method != .get { urlRequest.httpMethod = method.rawValue }
            urlRequest.allHTTPHeaderFields = framedHeaders().joined
            if let idleTimeout { urlRequest.timeoutInterval = idleTimeout / .seconds(1) }
            if !body.isEmpty {
                do { urlRequest.httpBody = try body.encode() } catch { throw HTTPError(ofBody: error, request: self) }
            }
            return urlRequest
        }

        /// Creates a request with the URL, method, headers and body of a `URLRequest`. Its `timeoutInterval` becomes
        /// the ``RequestSettings/idleTimeout``.
        ///
        /// Foundation's default interval of 60 seconds becomes nil, and an interval of more than 100 years becomes 100
        /// years. A Content-Length that equals the body's length is removed, because sending sets it.
        ///
        /// - Throws: `.invalidRequest` if the `URLRequest` has one of these:
        ///   - no URL
        ///   - a Content-Length that differs from the length of the body
        ///   - a `timeoutInterval` that is not a number
        ///   - a body stream, because it can be read only once and cannot be inspected
        public init(_ urlRequest: URLRequest) throws(HTTPError) {
            self.init()
            guard let url = urlRequest.url else {
                throw HTTPError(.invalidRequest, request: self, message: "the URLRequest has no URL")
            }
            self.init(method: HTTPMethod(urlRequest.httpMethod ?? "GET"), url: url)
            headers = HTTPHeaders(urlRequest.allHTTPHeaderFields ?? [:])
            idleTimeout = try idleTimeout(ofFoundation: urlRequest.timeoutInterval)
            if let data = urlRequest.httpBody { body = DataBody(data) }
            try removeLength(of: urlRequest)
            if urlRequest.httpBody == nil, urlRequest.httpBodyStream != nil {
                throw HTTPError(
                    .invalidRequest, request: self,
                    message: "the URLRequest has a body stream (use a StreamBody)")
            }
        }

        /// Removes the Content-Length, which sending sets again. A length that differs from the body's is an error.
        private mutating func removeLength(of urlRequest: URLRequest) throws(HTTPError) {
            guard let length = headers[.contentLength] else { return }
            guard Int(length) == urlRequest.httpBody?.count ?? 0 else {
                throw HTTPError(
                    .invalidRequest, request: self,
                    message: "the Content-Length of the URLRequest differs from the body's length")
            }
            headers[.contentLength] = nil
        }

        private func idleTimeout(ofFoundation seconds: TimeInterval) throws(HTTPError) -> Duration? {
            if seconds == 60 { return nil }
            guard !seconds.isNaN else {
                throw HTTPError(
                    .invalidRequest, request: self, message: "the timeoutInterval of the URLRequest is not a number")
            }
            // Foundation represents "never" by infinity or the greatest number, which a Duration cannot represent.
            let century = 100 * 365.25 * 86_400
            return .seconds(max(-century, min(seconds, century)))
        }
    }

    extension HTTPHeaders {
        /// Returns the fields as a dictionary with the values of equal names joined.
        var joined: [String: String] {
            // Creating a dictionary from the fields is faster than creating an empty one with a capacity.
            let joined = Dictionary(fields.lazy.map { ($0.name.rawValue, $0.value) }) { earlier, _ in earlier }
            guard hasRepeatedName else { return joined }
            var groups: [Name: (spelling: String, values: [String])] = [:]
            for field in fields { groups[field.name, default: (field.name.rawValue, [])].values.append(field.value) }
            return Dictionary(
                uniqueKeysWithValues: groups.map { name, group in
                    (group.spelling, group.values.joined(separator: name == .cookie ? "; " : ", "))
                })
        }

        /// Comparing up to 16 names with each other is faster than hashing them.
        private var hasRepeatedName: Bool {
            guard fields.count <= 16 else { return Set(fields.lazy.map(\.name)).count < fields.count }
            return fields.indices.contains { index in
                fields[..<index].contains { $0.name == fields[index].name }
            }
        }
    }

    extension RequestBuilder {
        /// Builds the request and converts it to a `URLRequest`. See ``HTTPRequest/urlRequest()``.
        ///
        /// - Throws: `.invalidRequest` if the request cannot be built or converted.
        public func urlRequest() throws(HTTPError) -> URLRequest { try checkedRequest().urlRequest() }

        /// Builds the request, completes it with an environment unless the template has one, and converts it to a
        /// `URLRequest`: `try StandardRequestBuilder(GetUser(login: "ada")).urlRequest(in: .production)`.
        ///
        /// - Throws: `.invalidRequest` if the request cannot be built or converted.
        public func urlRequest(in environment: ServerEnvironment) throws(HTTPError) -> URLRequest {
            var request = try checkedRequest()
            if !request.options.contains(ServerEnvironment.self) { request.serverEnvironment = environment }
            return try request.urlRequest()
        }
    }
#endif
