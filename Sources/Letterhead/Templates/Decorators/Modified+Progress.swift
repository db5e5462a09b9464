// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    public import Foundation

    extension RequestTemplate {
        /// Reports the transfer to a `Progress` of Foundation, after the closures added before it.
        ///
        /// ```swift
        /// let progress = Progress(totalUnitCount: -1)
        /// let task = Task { try await client.download(GetVideo(id: 3).onProgress(progress), to: file) }
        /// progress.cancellationHandler = { task.cancel() }
        /// ```
        ///
        /// Its units are bytes. It is indeterminate as long as the number of bytes isn't known, and starts again with a
        /// retry. It changes on the thread that reads the bytes.
        ///
        /// - Parameters:
        ///   - progress: the object to change. Use it for one request.
        ///   - direction: the body whose bytes count. Default: the body of the response.
        public func onProgress(
            _ progress: Foundation.Progress, of direction: HTTPRequest.Progress.Direction = .download
        ) -> Modified<Self> {
            onProgress {
                guard $0.direction == direction else { return }
                progress.totalUnitCount = $0.totalBytes.map { Int64($0) } ?? -1
                progress.completedUnitCount = Int64($0.completedBytes)
            }
        }
    }
#endif
