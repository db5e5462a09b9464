// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    public import Foundation
    import Synchronization

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    extension ClientSession {
        /// A request that a function with a completion handler has created. It's sent when you call ``resume()``.
        ///
        /// You needn't keep the task: the request continues if you drop it. For code that names the types of
        /// Foundation, write `typealias URLSessionDataTask = ClientSession.DataTask`, and the same for the other kinds
        /// of tasks.
        public final class DataTask: Sendable {
            /// The request from which the task was created.
            public let originalRequest: URLRequest?
            private let run: @Sendable () async -> Void
            /// Nil before the request is sent.
            private let running = Mutex<Task<Void, Never>?>(nil)

            init(_ request: URLRequest, _ run: @escaping @Sendable () async -> Void) {
                (originalRequest, self.run) = (request, run)
            }

            /// Sends the request. A second call does nothing.
            public func resume() { start(isCancelled: false) }

            /// Cancels the request. Unless it has ended, the completion handler is called with `URLError.cancelled`.
            public func cancel() { start(isCancelled: true) }

            /// A task that is cancelled before it was resumed runs, too, so that its handler is called.
            private func start(isCancelled: Bool) {
                running.withLock { running in
                    if let running { return isCancelled ? running.cancel() : () }
                    running = Task { [run] in
                        if isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                        await run()
                    }
                }
            }
        }

        /// Creates a task that returns the response body in memory. See ``data(for:delegate:)``.
        ///
        /// The handler is called once, on an arbitrary thread.
        public func dataTask(
            with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
        ) -> DataTask {
            task(request, completionHandler) { try await $0.data(for: request) }
        }

        /// Creates a task that sends a GET. See ``dataTask(with:completionHandler:)-(URLRequest,_)``.
        public func dataTask(
            with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
        ) -> DataTask {
            dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
        }

        /// Creates a task that sends bytes in memory. See ``upload(for:from:delegate:)``.
        public func uploadTask(
            with request: URLRequest, from bodyData: Data?,
            completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
        ) -> DataTask {
            task(request, completionHandler) { try await $0.upload(for: request, from: bodyData ?? Data()) }
        }

        /// Creates a task that sends a file. See ``upload(for:fromFile:delegate:)``.
        public func uploadTask(
            with request: URLRequest, fromFile fileURL: URL,
            completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
        ) -> DataTask {
            task(request, completionHandler) { try await $0.upload(for: request, fromFile: fileURL) }
        }

        /// Creates a task that saves the response body. See ``download(for:delegate:)``. As with `URLSession`, the file
        /// is deleted when the handler returns.
        public func downloadTask(
            with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
        ) -> DataTask {
            let handler = { @Sendable (file: URL?, response: URLResponse?, error: (any Error)?) in
                completionHandler(file, response, error)
                if let file { try? FileManager.default.removeItem(at: file) }
            }
            return task(request, handler) { try await $0.download(for: request) }
        }

        private func task<Value>(
            _ request: URLRequest, _ handler: @escaping @Sendable (Value?, URLResponse?, (any Error)?) -> Void,
            _ load: @escaping @Sendable (ClientSession) async throws -> (Value, URLResponse)
        ) -> DataTask {
            DataTask(request) {
                let value: Value
                let response: URLResponse
                do { (value, response) = try await load(self) } catch { return handler(nil, nil, error) }
                handler(value, response, nil)
            }
        }
    }
#endif
