#if os(Linux)
    import CLibcurl
    import Foundation

    /// A valid request lowered to what libcurl is told: the URL, the lines, how the body goes out, how long it may take.
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
        /// How long nothing may move on the connection, in nanoseconds.
        let idleTimeout: UInt64
        /// How long it is until the deadline of the whole load, in nanoseconds.
        let timeLeft: UInt64
        /// How many times as large as it came a body may be when its content coding is undone; nil leaves it coded.
        let decodingRatio: Int?
        private let text: CurlText
        /// Whether the URL does not end with the target: one of them has what the other has not.
        private let isTargetApart: Bool
        private let originCount: Int
        private let targetPosition: Int
        private let methodPosition: Int

        /// Bodies up to this size are copied behind the lines.
        private static let copyLimit = 64 << 10

        /// - Parameters:
        ///   - body: the bytes as they go out; nil sends none, and tells no length.
        ///   - configuration: says whether the answer may come in a content coding, unless the request says which, and
        ///     whether there may be a proxy.
        init(_ request: HTTPRequest, body: BodyChunks?, _ configuration: TransportConfiguration) {
            method = request.method
            isSecure = ASCII.equalIgnoringCase(request.scheme, "https")
            timeout = request.timeout?.wholeNanoseconds ?? .max
            idleTimeout = (request.idleTimeout ?? configuration.idleTimeout)?.wholeNanoseconds ?? .max
            timeLeft = request.timeLeft?.wholeNanoseconds ?? .max
            decodingRatio = configuration.decodesContent ? configuration.maximumDecodingRatio : nil
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
                    CurlSendPipe(chunks, isReplayable: isReplayable, meter: meter) {
                        try request.framedBody().inPieces
                    })
            }
            isTargetApart = request.path.string.isEmpty || request.fragment != nil
            (text, originCount, targetPosition, methodPosition) = Self.text(
                of: request, isTargetApart: isTargetApart, tail: tail, hasBody: body != nil, configuration)
        }

        var url: UnsafePointer<CChar> { text.string(at: text.start) }
        /// The URL as the request line has it for a proxy; nil when it is written otherwise there.
        var absoluteTarget: UnsafePointer<CChar>? { isTargetApart ? nil : url }
        /// The URL up to its path; nil when it has none.
        var origin: UnsafeBufferPointer<CChar>? {
            originCount == 0 ? nil : UnsafeBufferPointer(start: url, count: originCount)
        }
        /// Path and query.
        var target: UnsafePointer<CChar> { text.string(at: targetPosition) }
        var methodName: UnsafePointer<CChar> { text.string(at: methodPosition) }
        var headerLines: UnsafePointer<curl_slist>? { text.lines }
        var copiedBody: UnsafeRawPointer { text.tail }

        /// Whether sending it twice means no more than sending it once (RFC 9110, 9.2.2).
        var mayBeSentTwice: Bool { method.isIdempotent }
    }

    // MARK: Text

    extension CurlPlan {
        private static func text(
            of request: HTTPRequest, isTargetApart: Bool, tail: Data, hasBody: Bool,
            _ configuration: TransportConfiguration
        ) -> (CurlText, origin: Int, target: Int, method: Int) {
            let headers = request.headers
            let target = isTargetApart ? request.target : ""
            let capacity = request.urlCapacity + target.utf8.count + request.method.rawValue.utf8.count
            let fields = headers.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 3 }
            let offersCodings = configuration.decodesContent
            let mayBeProxied = configuration.proxy.isInUse(isSecure: false)
            var (originCount, targetPosition, methodPosition) = (0, 0, 0)
            let text = CurlText(
                lineCount: headers.count + ownLimit, capacity: capacity + fields + ownCapacity, tail: tail
            ) { text in
                targetPosition = text.position
                text.add(atMost: request.urlCapacity) { url in
                    request.writeOrigin(to: &url)
                    originCount = request.path.string.isEmpty ? 0 : url.count
                    request.writeRest(to: &url)
                }
                targetPosition += originCount
                if isTargetApart {
                    targetPosition = text.position
                    text.add(target)
                }
                methodPosition = text.position
                text.add(request.method.rawValue)
                for field in headers { text.addLine(field.name.rawValue, field.value) }
                // Ranges are of the coded bytes, of which a part cannot be decoded.
                if offersCodings, !headers.contains(.acceptEncoding), !headers.contains(.range) {
                    text.addLine("Accept-Encoding", ContentDecoder.offered)
                }
                if !headers.contains(.accept) { text.addLine("Accept", nil) }
                // A tunnel's own request has its own lines.
                if mayBeProxied, !headers.contains("Proxy-Connection") { text.addLine("Proxy-Connection", nil) }
                if hasBody {
                    if !headers.contains(.contentType) { text.addLine("Content-Type", nil) }
                    if !headers.contains(.expect) { text.addLine("Expect", nil) }
                }
            }
            return (text, originCount, targetPosition, methodPosition)
        }

        /// What libcurl would add by itself, and the codings: how many lines these may be, and how many bytes in all with
        /// the zeros behind the URL, the target and the method.
        private static let ownLimit = 5
        private static let ownCapacity = 128
    }
#endif
