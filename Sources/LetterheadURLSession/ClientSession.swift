// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    public import Foundation
    public import Letterhead

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// A replacement for `URLSession` that sends requests with a client. Use it for `URLSession` code that also runs on
    /// Linux.
    ///
    /// ```swift
    /// #if os(Linux)
    ///     import LetterheadURLSession
    ///     public typealias URLSession = ClientSession
    /// #endif
    ///
    /// let (data, response) = try await URLSession.shared.data(for: URLRequest(url: url))
    /// ```
    ///
    /// The functions have the same labels, results and errors as in `URLSession`: a response with any status is a
    /// result, redirects are followed, and every error is a `URLError`. <doc:ComingFromURLSession> compares them one by
    /// one.
    ///
    /// Pass a client to add what `URLSession` doesn't have: retries, limits, signatures, observers, stubs.
    ///
    /// ```swift
    /// let session = ClientSession(HTTPClient(retrying: Backoff(maximumRetries: 2), observers: [PrintTimeline()]))
    /// ```
    ///
    /// These rules apply to all functions:
    ///
    /// - The settings of a `URLRequest` take precedence over the client settings.
    /// - If your task is cancelled, the function throws `URLError.cancelled` within milliseconds, and the connection is
    ///   closed.
    /// - Each `URLError` has the `HTTPError` from the client in `userInfo[NSUnderlyingErrorKey]`.
    /// - Delegates aren't supported. The parameter `delegate` accepts only nil.
    public final class ClientSession: Sendable {
        // A class, because code for URLSession may compare sessions by identity.

        /// A session with the default configuration. All of its requests share cookies and connections.
        public static let shared = ClientSession(configuration: .default)

        /// The client that sends the requests. Use it for everything that `URLSession` has no function for, such as a
        /// reset.
        public let client: HTTPClient

        /// The client, with a link that returns responses with any status.
        private let sender: HTTPClient

        /// Creates a session that sends its requests with a client.
        ///
        /// The client determines the cookies, the cache, the credentials, the limits and everything else that a
        /// `URLRequest` doesn't set. A body in memory has at most 64 MiB, unless the client has a different
        /// `responseLimit(_:)`.
        public init(_ client: HTTPClient) {
            self.client = client
            sender = client.addingLink(KeepStatuses())
        }

        /// Creates a session with a new client for a configuration.
        ///
        /// The session uses these settings from the configuration: the timeouts, the additional headers, the cookie
        /// storage, the cookie settings, the connection limit and the protocol classes. It doesn't use caches and
        /// stored credentials. On Linux, each request fails if `connectionProxyDictionary` is set, and the error names
        /// the setting. A body in memory has at most 2 GiB. <doc:ComingFromURLSession> lists all settings.
        public convenience init(configuration: URLSessionConfiguration) {
            self.init(HTTPClient(configuration))
        }
    }

    extension ClientSession {
        /// Sends a request and returns the body of its response in memory.
        ///
        /// - Throws: `URLError`.
        public func data(for request: URLRequest, delegate: Never? = nil) async throws -> (Data, URLResponse) {
            try await buffered(send(request))
        }

        /// Sends a GET and returns the body of its response in memory. See ``data(for:delegate:)``.
        public func data(from url: URL, delegate: Never? = nil) async throws -> (Data, URLResponse) {
            try await data(for: URLRequest(url: url))
        }

        /// Sends a request with bytes in memory. They replace the request body.
        ///
        /// - Throws: `URLError`.
        public func upload(
            for request: URLRequest, from bodyData: Data, delegate: Never? = nil
        ) async throws -> (Data, URLResponse) {
            var request = request
            request.httpBody = bodyData
            return try await data(for: request)
        }

        /// Sends a request with a file, which replaces the request body. The file is read while it is sent.
        ///
        /// - Throws: `URLError`. Nothing is sent if the file can't be read.
        public func upload(
            for request: URLRequest, fromFile fileURL: URL, delegate: Never? = nil
        ) async throws -> (Data, URLResponse) {
            try await buffered(send(request, file: fileURL))
        }

        /// Sends a request and saves the response body in a file. Only a small part of it is in memory at any time.
        ///
        /// - Returns: the URL of a new file in the temporary folder. Move or delete it.
        /// - Throws: `URLError`.
        public func download(for request: URLRequest, delegate: Never? = nil) async throws -> (URL, URLResponse) {
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent("letterhead-\(UUID().uuidString).tmp", isDirectory: false)
            let response = try await send(request, delivered: .file(file))
            // The client doesn't save the body of a response with a status that isn't accepted.
            if response.savedFile == nil {
                let data = try await buffered(response).0
                guard FileManager.default.createFile(atPath: file.path, contents: data) else {
                    throw HTTPError(
                        .cannotSaveResponse, request: response.request, response: response,
                        message: "the file of the download can't be written in the temporary folder"
                    ).urlError
                }
            }
            return (file, try head(of: response))
        }

        /// Sends a GET and saves the response body in a file. See ``download(for:delegate:)``.
        public func download(from url: URL, delegate: Never? = nil) async throws -> (URL, URLResponse) {
            try await download(for: URLRequest(url: url))
        }

        /// Sends a request and returns when the response head has arrived. The body bytes arrive as you read them.
        ///
        /// ```swift
        /// let (bytes, response) = try await session.bytes(for: request)
        /// for try await line in bytes.lines { … }
        /// ```
        ///
        /// If you drop the sequence before its end, the connection is closed.
        ///
        /// - Throws: `URLError`.
        public func bytes(for request: URLRequest, delegate: Never? = nil) async throws -> (AsyncBytes, URLResponse) {
            let response = try await send(request, delivered: .streamed)
            return (AsyncBytes(body: response.body, url: request.url), try head(of: response))
        }

        /// Sends a GET and returns when the response head has arrived. See ``bytes(for:delegate:)``.
        public func bytes(from url: URL, delegate: Never? = nil) async throws -> (AsyncBytes, URLResponse) {
            try await bytes(for: URLRequest(url: url))
        }
    }

    extension ClientSession {
        private func send(
            _ urlRequest: URLRequest, file: URL? = nil, delivered delivery: HTTPResponse.Delivery = .buffered
        ) async throws -> HTTPResponse {
            do {
                var request = try Self.request(urlRequest, file: file)
                request.responseDelivery = delivery
                return try await sender.send(request)
            } catch let error as HTTPError {
                let isStatus = error.code == .unacceptableStatus || error.code == .retriesExhausted
                guard isStatus, let response = error.response else { throw error.urlError }
                return response
            } catch {
                throw URLError(anyError: error, url: urlRequest.url)
            }
        }

        private static func request(_ urlRequest: URLRequest, file: URL?) throws -> HTTPRequest {
            var urlRequest = urlRequest
            if file != nil {
                urlRequest.httpBody = nil
                urlRequest.httpBodyStream = nil
                // The file length replaces this one.
                urlRequest.setValue(nil, forHTTPHeaderField: "Content-Length")
            }
            var request = try HTTPRequest(urlRequest)
            if let file {
                request.body = FileBody(at: file)
                // Foundation adds no Content-Type for a file.
                request.omittedHeaders.insert(.contentType)
            }
            try request.apply(urlRequest.cachePolicy)
            return request
        }

        private func buffered(_ response: HTTPResponse) async throws -> (Data, URLResponse) {
            do { return (try await response.body.data(upTo: .max), try head(of: response)) } catch {
                throw URLError(anyError: error, url: try? response.request.url())
            }
        }

        private func head(of response: HTTPResponse) throws -> URLResponse {
            if let head = HTTPURLResponse(response) { return head }
            throw HTTPError(.invalidResponse, request: response.request, message: "the response has no URL").urlError
        }
    }

    extension HTTPRequest {
        /// Tells the cache of the client, and caches between it and the server, what a Foundation cache policy demands.
        fileprivate mutating func apply(_ policy: URLRequest.CachePolicy) throws(HTTPError) {
            switch policy {
            case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData:
                // With this, a cache of the client doesn't look for a stored response.
                isLiveStream = true
            case .returnCacheDataDontLoad:
                throw HTTPError(
                    .invalidRequest, request: self, underlying: URLError(.resourceUnavailable),
                    message: "the cachePolicy returnCacheDataDontLoad is not supported (set another cachePolicy)")
            default: break
            }
            let isAsked = policy == .reloadIgnoringLocalAndRemoteCacheData || policy == .reloadRevalidatingCacheData
            if isAsked, !headers.contains(.cacheControl) { headers[.cacheControl] = "no-cache" }
        }
    }

    extension URLError {
        /// Creates the error that a session throws. A cancelled task is reported as by `URLSession`.
        init(anyError error: any Error, url: URL?) {
            switch error {
            case let error as HTTPError: self = error.urlError
            case let error as URLError: self = error
            default: self = HTTPError(error, request: url.map { HTTPRequest(url: $0) } ?? HTTPRequest()).urlError
            }
        }
    }

    /// Throws responses with a status that isn't accepted. This happens before the client would read a part of the body
    /// for an error, so the whole body stays available.
    private struct KeepStatuses: LoaderLink {
        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            let response = try await next.load(request)
            if request.accepts(response.status) { return response }
            throw HTTPError(.unacceptableStatus, request: response.request, response: response)
        }
    }
#else
    #error("LetterheadURLSession needs the trait Foundation: remove `traits: []` from the dependency on Letterhead")
#endif
