#if os(Linux)
    import CLibcurl
    import Foundation

    /// A request lowered to what libcurl is told: the URL, the lines, how the body goes out, how long it may take.
    struct CurlPlan: Sendable {
        /// How the body goes out.
        enum Content: Sendable {
            /// There is none, and no length is told.
            case none
            /// From the memory behind the lines, with the head if it fits.
            case copied(count: Int)
            /// Pulled from memory that is held.
            case held(Data)
            /// Pulled from a task that makes it.
            case pulled(CurlSendPipe)
        }

        let method: HTTPMethod
        let isSecure: Bool
        let content: Content
        /// How long it may take, in nanoseconds.
        let timeout: UInt64
        /// How long it is until the deadline of the whole load, in nanoseconds.
        let timeLeft: UInt64
        private let text: CurlText

        /// Bodies up to this size are copied behind the lines.
        private static let copyLimit = 64 << 10

        /// - Parameters:
        ///   - body: the bytes as they go out; nil sends none, and tells no length.
        ///   - offersCodings: whether the answer may come in a content coding, unless the request says which.
        init(_ request: HTTPRequest, body: BodyChunks?, offersCodings: Bool) throws(HTTPError) {
            method = request.method
            isSecure = ASCII.lowercased(request.scheme) == "https"
            timeout = request.timeout?.wholeNanoseconds ?? .max
            timeLeft = request.timeLeft?.wholeNanoseconds ?? .max
            var text = CurlText.Writer()
            text.add(try request.urlString())
            text.add(request.target)
            text.add(method.rawValue)
            for field in request.headers { text.addLine(field.name.rawValue, field.value) }
            // Ranges are of the coded bytes, of which a part cannot be decoded.
            if offersCodings, !request.headers.contains(.acceptEncoding), !request.headers.contains(.range) {
                text.addLine("Accept-Encoding", ContentDecoder.offered)
            }
            for name in Self.libcurlsOwn where !request.headers.contains(name) { text.addLine(name.rawValue, nil) }
            var tail = Data()
            switch (body, body?.data) {
            case (nil, _): content = .none
            case (_, let data?) where data.count <= Self.copyLimit:
                content = .copied(count: data.count)
                tail = data
            case (_, let data?): content = .held(data)
            case (let chunks?, nil):
                let isReplayable = request.body.isReplayable
                let meter = request.onProgress.map { ProgressMeter(.upload, total: chunks.length, report: $0) }
                content = .pulled(
                    CurlSendPipe(chunks, isReplayable: isReplayable, meter: meter) { try request.framedBody().inPieces }
                )
            }
            self.text = text.finish(tail: tail)
        }

        var url: UnsafePointer<CChar>? { text.string(0) }
        var target: UnsafePointer<CChar>? { text.string(1) }
        var methodName: UnsafePointer<CChar>? { text.string(2) }
        var headerLines: UnsafePointer<curl_slist>? { text.lines }
        var copiedBody: UnsafeRawPointer? { text.tail }

        /// Whether sending it twice means no more than sending it once (RFC 9110, 9.2.2).
        var mayBeSentTwice: Bool { method.isIdempotent }

        /// What libcurl would add by itself; a line without a value takes it back.
        private static let libcurlsOwn: [HTTPHeaders.Name] = [.accept, .contentType, .expect, "Proxy-Connection"]
    }
#endif
