// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    public import Foundation
    import Letterhead

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    extension MockLoader {
        /// Creates a loader with a handler for types of Foundation. Use it for code that you have tested with a mock
        /// `URLProtocol`.
        ///
        /// ```swift
        /// let mock = MockLoader.urlRequests { request in
        ///     let head = HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!
        ///     return (head, Data("{}".utf8))
        /// }
        /// let session = ClientSession(HTTPClient(transport: mock))
        /// ```
        ///
        /// The `httpBody` of the request contains the whole body, even if the body is a stream or a file, up to 1 GiB.
        /// Like every ``MockLoader``, it enforces time limits and records the requests.
        ///
        /// - Parameters:
        ///   - clock: measures request time limits. Default: the continuous clock.
        ///   - handler: responds to each request. If it throws an error, such as a `URLError`, the request fails with
        ///     this error.
        public static func urlRequests(
            clock: any Clock<Duration> = ContinuousClock(),
            _ handler: @escaping @Sendable (URLRequest) async throws -> (HTTPURLResponse, Data)
        ) -> MockLoader {
            MockLoader(clock: clock) { request in
                let (head, data) = try await handler(try await request.urlRequest(readingBodyUpTo: 1 << 30))
                return HTTPResponse(head, to: request, body: HTTPResponseBody(data))
            }
        }
    }
#endif
