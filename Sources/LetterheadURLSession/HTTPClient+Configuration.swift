// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Letterhead

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension HTTPClient {
        /// Creates a client that behaves like a session with the configuration.
        init(_ configuration: URLSessionConfiguration) {
            #if canImport(FoundationNetworking)
                let rule = configuration.brokenRule.map { RefuseRequests(rule: $0) }
                let client = HTTPClient(
                    links: rule, attemptLinks: StoreCookies(configuration) --> UseProtocols(configuration),
                    transport: configuration.transport)
                self = configuration.settings(for: client)
            #else
                // The transport runs a session with the configuration, which does everything else.
                self = HTTPClient(transport: HTTPClient.makeTransport(sessionConfiguration: configuration))
            #endif
            self = responseLimit(2 << 30)
        }
    }

    #if canImport(FoundationNetworking)
        extension URLSessionConfiguration {
            /// The reason why a setting makes every request impossible, or nil.
            fileprivate var brokenRule: String? {
                if connectionProxyDictionary?.isEmpty == false {
                    return "connectionProxyDictionary is not supported (pass a client whose transport has a proxy)"
                }
                if timeoutIntervalForRequest.isNaN || timeoutIntervalForResource.isNaN {
                    return "a timeout of the URLSessionConfiguration is not a number"
                }
                return requestCachePolicy == .returnCacheDataDontLoad
                    ? "the requestCachePolicy returnCacheDataDontLoad is not supported (set another policy)" : nil
            }

            /// The transport of the process, whose connections the sessions share. A session with a different
            /// connection limit has a separate transport.
            fileprivate var transport: any HTTPLoader {
                guard httpMaximumConnectionsPerHost != URLSessionConfiguration.default.httpMaximumConnectionsPerHost
                else { return HTTPClient.defaultTransport }
                var settings = TransportConfiguration()
                settings.maximumConnectionsPerHost = httpMaximumConnectionsPerHost
                return HTTPClient.makeTransport(settings)
            }

            /// Returns the client with the timeouts and headers from the configuration. Values in a request take
            /// precedence.
            fileprivate func settings(for client: HTTPClient) -> HTTPClient {
                var client = client
                if timeoutIntervalForRequest != 60 {
                    client = client.idleTimeout(Self.duration(timeoutIntervalForRequest))
                }
                // The default of Foundation is a week.
                if timeoutIntervalForResource < 604_800 {
                    client = client.deadline(in: Self.duration(timeoutIntervalForResource))
                }
                for case (let name as String, let value) in httpAdditionalHeaders ?? [:] {
                    client = client.header(HTTPHeaders.Name(name), "\(value)")
                }
                return client
            }

            /// Converts a time in seconds. A time of more than a century means no limit.
            private static func duration(_ seconds: TimeInterval) -> Duration {
                seconds < 100 * 365.25 * 86_400 ? .seconds(max(0, seconds)) : .never
            }
        }

        /// Refuses each request, because the library doesn't support a setting of the session.
        private struct RefuseRequests: LoaderLink {
            let rule: String

            func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
                throw HTTPError(.invalidRequest, request: request, message: rule)
            }
        }
    #endif
#endif
