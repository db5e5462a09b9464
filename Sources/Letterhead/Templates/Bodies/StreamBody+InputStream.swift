// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    public import Foundation

    extension StreamBody {
        /// Creates a body from a stream of Foundation, which is opened when its first bytes are requested, and closed at its
        /// end. It is sent at most once. The other parameters are those of a stream.
        ///
        /// You hand the stream over: do not use it afterwards. Reading blocks a thread while the stream waits for bytes, so
        /// prefer an asynchronous sequence for a stream that is not in memory or in a file.
        public init(
            _ stream: sending InputStream, length: Int? = nil, contentType: MediaType? = nil,
            additionalHeaders: HTTPHeaders = [:]
        ) {
            let reader = InputStreamReader(stream)
            self.init(
                once: AsyncThrowingStream { try await reader.next() }, length: length, contentType: contentType,
                additionalHeaders: additionalHeaders)
        }
    }

    /// Reads a stream of Foundation in pieces of at most 64 KiB. An actor, because the stream is mutable state.
    private actor InputStreamReader {
        private let stream: InputStream

        init(_ stream: sending InputStream) { self.stream = stream }

        func next() throws -> Data? {
            if stream.streamStatus == .notOpen { stream.open() }
            let tooLarge = HTTPBodyError.invalid("there is not enough memory to read the stream")
            let piece = try Data.filled(count: 64 << 10, orThrow: tooLarge) { buffer throws(HTTPBodyError) in
                guard let start = buffer.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                let count = stream.read(start, maxLength: buffer.count)
                guard count >= 0 else { throw HTTPBodyError.invalid("the stream cannot be read: \(reason)") }
                return count
            }
            if piece.isEmpty { stream.close() }
            return piece.isEmpty ? nil : piece
        }

        private var reason: String { stream.streamError.map { HTTPError.summary(of: $0) } ?? "it reports no reason" }
    }
#endif
