// SPDX-License-Identifier: MIT
#if Foundation && canImport(FoundationNetworking)
    import Dispatch
    import Foundation
    import FoundationNetworking
    import Letterhead
    import Synchronization

    /// Lets the `protocolClasses` of a configuration respond, such as a `URLProtocol` that a test uses as a mock.
    struct UseProtocols: LoaderLink {
        /// The maximum size of a request body. A `URLProtocol` receives the body in memory.
        private static let limit = 1 << 30

        private let classes: [URLProtocol.Type]

        /// Returns nil if all classes in the configuration are built into Foundation.
        init?(_ configuration: URLSessionConfiguration) {
            let standard = Set((URLSessionConfiguration.default.protocolClasses ?? []).map { ObjectIdentifier($0) })
            classes = (configuration.protocolClasses ?? []).compactMap { type in
                standard.contains(ObjectIdentifier(type)) ? nil : type as? URLProtocol.Type
            }
            if classes.isEmpty { return nil }
        }

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            // The body isn't read yet: if it can be read only once, the transport may still need it.
            var head = request
            head.headers = request.framedHeaders()
            head.body = EmptyBody()
            let outline = try head.urlRequest()
            guard let type = classes.first(where: { $0.canInit(with: outline) }) else {
                return try await next.load(request)
            }
            let urlRequest = type.canonicalRequest(for: try await request.urlRequest(readingBodyUpTo: Self.limit))
            let parts = ProtocolParts()
            let loading = RunningProtocol(type.init(request: urlRequest, cachedResponse: nil, client: parts))
            let body = HTTPResponseBody(
                length: nil, pull: { try await parts.next()?.data }, cancel: { loading.stop() })
            return try await request.withHTTPErrors {
                loading.start()
                // When the body is dropped, the protocol is stopped.
                guard case .head(let head as HTTPURLResponse) = try await parts.next() else {
                    throw URLError(.badServerResponse)
                }
                body.onEnd { _ in loading.stop() }
                return try await HTTPResponse(head, to: request, body: body).delivered(to: request)
            }
        }
    }

    /// A `URLProtocol` while it loads.
    ///
    /// `@unchecked Sendable`: only the queue uses the protocol.
    private final class RunningProtocol: @unchecked Sendable {
        private let loader: URLProtocol
        private let queue = DispatchQueue(label: "letterhead.protocol")
        private let isStopped = Atomic(false)

        init(_ loader: sending URLProtocol) { self.loader = loader }

        func start() { queue.async { self.loader.startLoading() } }

        /// Stops the protocol once.
        func stop() {
            if !isStopped.exchange(true, ordering: .relaxed) { queue.async { self.loader.stopLoading() } }
        }
    }

    /// The reports of a `URLProtocol`, in order.
    private final class ProtocolParts: NSObject, URLProtocolClient, Sendable {
        enum Part: Sendable {
            case head(URLResponse)
            case data(Data)

            var data: Data { if case .data(let data) = self { data } else { Data() } }
        }

        private let (parts, sender) = AsyncThrowingStream.makeStream(of: Part.self)

        /// Returns the next part. All iterators of a stream share its elements, so a new one can be created for each
        /// call.
        func next() async throws -> Part? {
            var iterator = parts.makeAsyncIterator()
            let part = try await iterator.next()
            // If the reader is cancelled, the stream ends without an error.
            if part == nil { try Task.checkCancellation() }
            return part
        }

        func urlProtocol(
            _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
        ) {
            sender.yield(.head(response))
        }

        func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { sender.yield(.data(data)) }

        func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { sender.finish() }

        func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) { sender.finish(throwing: error) }

        /// The response is passed on, so that the redirect link in the client follows it.
        func urlProtocol(
            _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
        ) {
            sender.yield(.head(redirectResponse))
            sender.finish()
        }

        func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {}

        func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
            sender.finish(throwing: URLError(.userAuthenticationRequired))
        }

        func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
    }
#endif
