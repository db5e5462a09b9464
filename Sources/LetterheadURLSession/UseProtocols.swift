// SPDX-License-Identifier: MIT
#if Foundation && canImport(FoundationNetworking)
    import Dispatch
    import Foundation
    import FoundationNetworking
    import Letterhead
    import Synchronization

    /// Lets the `protocolClasses` of a configuration respond, such as the `URLProtocol` that the tests of a library use
    /// as a mock.
    struct UseProtocols: LoaderLink {
        /// The largest body that is read for a `URLProtocol`, which receives it in memory.
        private static let limit = 1 << 30

        private let classes: [URLProtocol.Type]

        /// Returns nil if the configuration has only Foundation's classes.
        init?(_ configuration: URLSessionConfiguration) {
            let standard = Set((URLSessionConfiguration.default.protocolClasses ?? []).map { ObjectIdentifier($0) })
            classes = (configuration.protocolClasses ?? []).compactMap { type in
                standard.contains(ObjectIdentifier(type)) ? nil : type as? URLProtocol.Type
            }
            if classes.isEmpty { return nil }
        }

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            // A body that can be read only once may still be needed by the transport.
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
                // Dropping the body stops the protocol.
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

    /// What a `URLProtocol` reports, in order.
    private final class ProtocolParts: NSObject, URLProtocolClient, Sendable {
        enum Part: Sendable {
            case head(URLResponse)
            case data(Data)

            var data: Data { if case .data(let data) = self { data } else { Data() } }
        }

        private let (parts, sender) = AsyncThrowingStream.makeStream(of: Part.self)

        /// Returns the next part. The iterators of a stream share its elements.
        func next() async throws -> Part? {
            var iterator = parts.makeAsyncIterator()
            let part = try await iterator.next()
            // A stream ends if its reader is cancelled.
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

        /// The link for redirects follows it.
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
