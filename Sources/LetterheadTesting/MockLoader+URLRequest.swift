// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    public import Foundation
    import Letterhead

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    extension MockLoader {
        /// Creates a loader that responds with Foundation's types, for code that is tested with a `URLProtocol` as a
        /// mock.
        ///
        /// ```swift
        /// let mock = MockLoader.urlRequests { request in
        ///     let head = HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!
        ///     return (head, Data("{}".utf8))
        /// }
        /// let session = ClientSession(HTTPClient(transport: mock))
        /// ```
        ///
        /// The `httpBody` of the request contains the whole body, also that of a stream or a file, up to 1 GiB.
        /// Otherwise, the loader is as any ``MockLoader``: it enforces time limits, and records the requests.
        ///
        /// - Parameters:
        ///   - clock: measures the requests' time limits. Default: the continuous clock.
        ///   - handler: responds to each request. What it throws, such as a `URLError`, is the error of the request.
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
