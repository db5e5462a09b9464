// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Synchronization

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #else
        import Security
    #endif

    /// The delegate of a session. It passes each event to the exchange of the task.
    final class URLSessionRelay: NSObject, URLSessionDataDelegate {
        // The session retains the delegate until it is invalidated.
        private let byTask = Mutex<[Int: URLSessionExchange]>([:])
        private let exchanges: URLSessionExchanges

        init(_ exchanges: URLSessionExchanges) { self.exchanges = exchanges }

        func register(_ exchange: URLSessionExchange, for task: URLSessionTask) {
            byTask.withLock { $0[task.taskIdentifier] = exchange }
        }

        private func exchange(of task: URLSessionTask) -> URLSessionExchange? {
            byTask.withLock { $0[task.taskIdentifier] }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            exchange(of: dataTask)?.receive(response)
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            exchange(of: dataTask)?.receive(data)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            exchange(of: task)?.sent(bytesSent, of: totalBytesSent)
        }

        /// Returns a redirect as a response like any other. On Linux the handler is never called, because Foundation
        /// crashes if it is called late.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            #if canImport(FoundationNetworking)
                exchange(of: task)?.receive(response)
                exchange(of: task)?.settleEarly()
            #else
                completionHandler(nil)
            #endif
        }

        /// Lets the system evaluate server trust, after the pinned keys and the checks in the configuration. It rejects
        /// any other challenge: the caller receives a 401 or 407 response, and no client certificate is sent.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            #if canImport(FoundationNetworking)
                exchange(of: task)?.settleEarly()
            #else
                let space = challenge.protectionSpace
                guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
                    return completionHandler(.rejectProtectionSpace, nil)
                }
                let isAllowed = exchange(of: task)?.mayConnect(to: space) ?? false
                completionHandler(isAllowed ? .performDefaultHandling : .cancelAuthenticationChallenge, nil)
            #endif
        }

        #if !canImport(FoundationNetworking)
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
            ) {
                exchange(of: task)?.collect(metrics)
            }
        #endif

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let exchange = byTask.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            exchange?.complete(error)
            if let exchange { exchanges.remove(exchange) }
        }
    }

    #if canImport(Darwin)
        extension URLSessionExchange {
            /// Returns whether the pinned keys and the checks in the configuration allow the server that sent a
            /// challenge. If they don't, the request fails. They don't apply to a proxy.
            func mayConnect(to space: URLProtectionSpace) -> Bool {
                if space.isProxy() { return true }
                do throws(TransportFailure) {
                    // The host in a challenge has no brackets around an IPv6 address.
                    try configuration.security.check(space.serverTrust, of: request.host ?? space.host)
                    return true
                } catch {
                    fail(error.error(for: request))
                    return false
                }
            }
        }

        extension TransportConfiguration.Security {
            /// Throws unless a server has a pinned key and passes all checks. The system evaluates the certificate
            /// first.
            fileprivate func check(_ trust: SecTrust?, of host: String) throws(TransportFailure) {
                let pins = pinnedKeys(of: host)
                if pins.isEmpty, checks.isEmpty { return }
                // The system stores a reason before it returns.
                var reason: CFError?
                guard let trust, unsafe SecTrustEvaluateWithError(trust, &reason) else {
                    throw TransportFailure(
                        .insecureConnection, "the server's certificate is not trusted", mayHaveBeenSent: false,
                        underlying: reason.map { $0 as any Error })
                }
                let certificates = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
                let chain = certificates.map { SecCertificateCopyData($0) as Data }
                let key = chain.first.flatMap(PublicKeyPin.digest)
                guard pins.isEmpty || key.map(pins.contains) == true else {
                    let text = key.map(PublicKeyPin.text) ?? "not known"
                    throw TransportFailure(
                        .insecureConnection,
                        "the public key of the server does not match the pinned keys "
                            + "(\(pinningRule(of: host)) for \(host), and the server's key is \(text))",
                        mayHaveBeenSent: false)
                }
                try check(chain, of: host)
            }
        }
    #endif
#endif
