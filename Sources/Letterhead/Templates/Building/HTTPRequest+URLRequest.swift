// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    #if canImport(FoundationNetworking)
        import Foundation
        public import FoundationNetworking
    #else
        public import LetterheadFoundation
    #endif

    extension HTTPRequest {
        /// Converts the request to a `URLRequest` with its URL, method, headers and body.
        ///
        /// The ``RequestSettings/idleTimeout`` becomes the `timeoutInterval`, because both limit the time without a
        /// byte. If the request has a ``RequestSettings/serverEnvironment``, it is applied first. A `URLRequest` cannot
        /// represent every request:
        ///
        /// - Header fields with the same name are joined with `, `, and `Cookie` fields with `; `.
        /// - On Linux, the capitalization and the order of header names are lost.
        /// - Methods that Foundation knows are written in upper case.
        /// - A streamed body is an error, and a file is read into memory.
        /// - The ``id`` and all options other than the idle timeout and ``RequestSettings/handlesCookies`` are lost.
        ///   This includes ``RequestSettings/timeout``.
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
            if !handlesCookies { urlRequest.httpShouldHandleCookies = false }
            if !body.isEmpty {
                do { urlRequest.httpBody = try body.encode() } catch { throw HTTPError(ofBody: error, request: self) }
            }
            return urlRequest
        }

        /// Converts the request as ``urlRequest()`` does, and reads a streamed body or a file into memory. A body that
        /// can be sent only once is used up.
        ///
        /// - Parameter limit: the largest number of bytes in the body.
        /// - Throws: the errors of ``urlRequest()``, and `.invalidRequest` for a larger body.
        public func urlRequest(readingBodyUpTo limit: Int) async throws(HTTPError) -> URLRequest {
            var request = self
            request.headers = framedHeaders()
            var bytes = Data()
            do {
                for try await piece in try framedBody() {
                    guard bytes.count + piece.count <= limit else { throw HTTPBodyError.tooLarge(limit: limit) }
                    bytes += piece
                }
            } catch {
                throw HTTPError(ofBody: error, request: self)
            }
            request.body = DataBody(bytes)
            return try request.urlRequest()
        }

        /// Applies changes that other code, such as a middleware, has made to a `URLRequest` for this request.
        ///
        /// What is unchanged stays: the ``id``, all options, header fields with their order, spelling and secrecy, and
        /// a body that isn't in memory.
        ///
        /// ```swift
        /// var urlRequest = try request.urlRequest()
        /// middleware.intercept(&urlRequest)
        /// try request.update(from: urlRequest)
        /// ```
        ///
        /// A header field that was removed isn't added again by the client or the body. See
        /// ``RequestSettings/omittedHeaders``. If the URL leads to a different host, headers such as `Authorization`
        /// stay, so set it only to a server that may receive them.
        ///
        /// - Throws: the errors of ``init(_:)-(URLRequest)``. The request is unchanged then.
        public mutating func update(from urlRequest: URLRequest) throws(HTTPError) {
            let new = try HTTPRequest(urlRequest)
            let url = try new.urlString()
            // The fields of the environment are then known as such, and aren't sent to a different origin.
            if options.contains(ServerEnvironment.self) { try serverEnvironment?.complete(&self) }
            if url != (try? urlString()) {
                (scheme, host, port, userInfo) = (new.scheme, new.host, new.port, new.userInfo)
                (path, query, fragment) = (new.path, new.query, new.fragment)
            }
            // Foundation writes the methods that it knows in upper case.
            if ASCII.uppercased(new.method.rawValue) != ASCII.uppercased(method.rawValue) { method = new.method }
            if urlRequest.timeoutInterval != (idleTimeout ?? .seconds(60)) / .seconds(1) {
                options.remove(IdleTimeoutOption.self)
                if let limit = new.idleTimeout { idleTimeout = limit }
            }
            if new.handlesCookies != handlesCookies { handlesCookies = new.handlesCookies }
            let sent = HTTPHeaders(framedHeaders().joined)
            updateBody(new.body, from: urlRequest.httpBody)
            let kept = HTTPHeaders(framedHeaders().joined)
            for field in new.headers where kept[field.name] != field.value {
                let wasSecret = headers.contains { $0.name == field.name && $0.isSecret }
                headers[field.name] = field.value
                if wasSecret { headers.setSecret(field.value, for: field.name) }
            }
            for field in sent where !new.headers.contains(field.name) {
                headers[field.name] = nil
                omittedHeaders.insert(field.name)
            }
        }

        /// A body that isn't in memory stays if the `URLRequest` has none, because ``urlRequest()`` cannot contain it.
        private mutating func updateBody(_ new: any HTTPBody, from data: Data?) {
            let isStream = data == nil && !new.isEmpty
            let known = body.isEmpty ? Data() : try? body.encode()
            if isStream || known != data ?? Data() && (known != nil || data?.isEmpty == false) { body = new }
        }

        /// Creates a request from a `URLRequest`, with its URL, method, headers and body.
        ///
        /// Its `timeoutInterval` becomes the ``RequestSettings/idleTimeout``, and its `httpShouldHandleCookies` becomes
        /// ``RequestSettings/handlesCookies``.
        ///
        /// The default interval of 60 seconds in Foundation becomes nil, and an interval of more than 100 years becomes
        /// 100 years. A Content-Length that equals the body length is removed, because sending sets it.
        ///
        /// A body stream becomes a ``StreamBody`` that can be sent only once, with the length in Content-Length if
        /// there is one. Don't use the stream afterwards.
        ///
        /// - Throws: `.invalidRequest` if the `URLRequest` has one of these:
        ///   - no URL
        ///   - a Content-Length that is not a number, or differs from the body length
        ///   - a `timeoutInterval` that is not a number
        public init(_ urlRequest: URLRequest) throws(HTTPError) {
            self.init()
            guard let url = urlRequest.url else {
                throw HTTPError(.invalidRequest, request: self, message: "the URLRequest has no URL")
            }
            self.init(method: HTTPMethod(urlRequest.httpMethod ?? "GET"), url: url)
            headers = HTTPHeaders(urlRequest.allHTTPHeaderFields ?? [:])
            // Nil would replace the limit of a client.
            if let limit = try idleTimeout(ofFoundation: urlRequest.timeoutInterval) { idleTimeout = limit }
            if !urlRequest.httpShouldHandleCookies { handlesCookies = false }
            let stream = urlRequest.httpBody == nil ? urlRequest.httpBodyStream : nil
            let length = try takeLength(of: urlRequest, isStreamed: stream != nil)
            if let data = urlRequest.httpBody { body = DataBody(data) }
            if let stream { body = StreamBody(stream, length: length) }
        }

        /// Removes and returns the Content-Length, which sending sets again. A Content-Length that differs from the
        /// body length is an error.
        private mutating func takeLength(of urlRequest: URLRequest, isStreamed: Bool) throws(HTTPError) -> Int? {
            guard let text = headers[.contentLength] else { return nil }
            guard let length = Int(text), length >= 0, isStreamed || length == urlRequest.httpBody?.count ?? 0 else {
                throw HTTPError(
                    .invalidRequest, request: self,
                    message: "the Content-Length of the URLRequest differs from the body's length")
            }
            headers[.contentLength] = nil
            return length
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

    extension RequestBuilder {
        /// Builds the request and converts it to a `URLRequest`. See ``HTTPRequest/urlRequest()``.
        ///
        /// - Throws: `.invalidRequest` if the request cannot be built or converted.
        public func urlRequest() throws(HTTPError) -> URLRequest { try checkedRequest().urlRequest() }

        /// Builds the request, completes it with an environment, and converts it to a `URLRequest`. An environment that
        /// the template sets takes precedence.
        ///
        /// ```swift
        /// let urlRequest = try StandardRequestBuilder(GetUser(login: "ada")).urlRequest(in: .production)
        /// ```
        ///
        /// - Throws: `.invalidRequest` if the request cannot be built or converted.
        public func urlRequest(in environment: ServerEnvironment) throws(HTTPError) -> URLRequest {
            var request = try checkedRequest()
            if !request.options.contains(ServerEnvironment.self) { request.serverEnvironment = environment }
            return try request.urlRequest()
        }
    }
#endif
