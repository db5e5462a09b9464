// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Synchronization

    #if canImport(FoundationNetworking)
        import FoundationNetworking
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

        /// Lets the system evaluate server trust, after the pinned keys and the checks of the configuration. Any other
        /// challenge is rejected: the caller receives a 401 or 407 response, and no client certificate is sent.
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
#endif
