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
            case pulled(SendPipe)
        }

        let method: HTTPMethod
        let isSecure: Bool
        let content: Content
        // Times in nanoseconds, of which the largest number is no limit: for an attempt, for a connection on which nothing
        // moves, for the first byte of the response, and until the deadline of the whole load.
        let (timeout, idleTimeout, firstByteTimeout, timeLeft): (UInt64, UInt64, UInt64, UInt64)
        /// In milliseconds.
        let connectTimeout: Int
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
            let connectLimit = request.connectTimeout ?? configuration.connectTimeout
            connectTimeout = connectLimit?.wholeMilliseconds ?? Int(CInt.max)
            firstByteTimeout = configuration.firstByteTimeout?.wholeNanoseconds ?? .max
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
                    SendPipe(chunks, isReplayable: isReplayable, meter: meter) {
                        try request.framedBody().inPieces
                    })
            }
            isTargetApart = request.path.string.isEmpty || request.fragment != nil
            var (originCount, targetPosition, methodPosition) = (0, 0, 0)
            text = CurlText(body: tail) { [isTargetApart] text in
                text.add(atMost: request.urlCapacity) { url in
                    request.writeOrigin(to: &url)
                    originCount = url.count
                    request.writeRest(to: &url)
                }
                targetPosition = isTargetApart ? text.position : originCount
                if isTargetApart { text.add(request.target) }
                methodPosition = text.position
                text.add(request.method.rawValue)
                Self.addLines(of: request, hasBody: body != nil, configuration, to: &text)
            }
            (self.originCount, self.targetPosition, self.methodPosition) = (originCount, targetPosition, methodPosition)
        }

        /// Adds the header fields, and what libcurl would send otherwise.
        private static func addLines(
            of request: HTTPRequest, hasBody: Bool, _ configuration: TransportConfiguration,
            to text: inout CurlText.Writer
        ) {
            let headers = request.headers
            for field in headers { text.addLine(field.name.rawValue, field.value) }
            // A range counts coded bytes, and a part of them cannot be decoded.
            if configuration.decodesContent, !headers.contains(.acceptEncoding), !headers.contains(.range) {
                text.addLine("Accept-Encoding", ContentDecoder.offered)
            }
            if !headers.contains(.accept) { text.addLine("Accept", nil) }
            // The request of a tunnel has separate lines.
            if configuration.proxy.isInUse(isSecure: false), !headers.contains("Proxy-Connection") {
                text.addLine("Proxy-Connection", nil)
            }
            guard hasBody else { return }
            if !headers.contains(.contentType) { text.addLine("Content-Type", nil) }
            if !headers.contains(.expect) { text.addLine("Expect", nil) }
        }

        var url: UnsafePointer<CChar> { text.string(at: 0) }
        /// The URL as the request line has it for a proxy; nil when it is written otherwise there.
        var absoluteTarget: UnsafePointer<CChar>? { isTargetApart ? nil : url }
        /// The URL up to its path.
        var origin: UnsafeBufferPointer<CChar> { UnsafeBufferPointer(start: url, count: originCount) }
        var originText: String { String(decoding: UnsafeRawBufferPointer(origin), as: UTF8.self) }
        /// Whether a connection may carry other requests at the same time.
        var mayShareConnections: Bool { isSecure && CurlQuirks.offersHTTP2 }
        /// Path and query.
        var target: UnsafePointer<CChar> { text.string(at: targetPosition) }
        var methodName: UnsafePointer<CChar> { text.string(at: methodPosition) }
        var headerLines: UnsafePointer<curl_slist>? { text.lines }
        var copiedBody: UnsafeRawPointer { text.body }
    }

    /// C strings, a list of lines and the bytes of a body, in one block of memory.
    ///
    /// A class, since it owns the memory that libcurl reads. `@unchecked`: nothing is written after `init`.
    final class CurlText: @unchecked Sendable {
        private let block: UnsafeMutableRawPointer
        private let strings: UnsafeMutableRawPointer
        private let lineCount: Int
        private let bodyOffset: Int

        /// Strings and lines while they are written, each with the zero at its end.
        struct Writer {
            fileprivate var bytes: [UInt8] = []
            fileprivate var lines: [Int] = []

            /// Where the next string begins.
            var position: Int { bytes.count }

            mutating func add(_ string: String) {
                append(string)
                bytes.append(0)
            }

            /// Adds a string of at most so many bytes.
            mutating func add(atMost count: Int, _ write: (inout ByteText) -> Void) {
                withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + 1) { memory in
                    let written = ByteText.write(to: memory, write)
                    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: memory[..<written]))
                }
                bytes.append(0)
            }

            /// Adds a header line. An empty value is sent as such; nil removes what libcurl would send.
            mutating func addLine(_ name: String, _ value: String?) {
                lines.append(bytes.count)
                append(name)
                append(value.map { $0.isEmpty ? ";" : ": " } ?? ":")
                add(value ?? "")
            }

            private mutating func append(_ text: String) { text.withBytes { bytes.append(contentsOf: $0) } }
        }

        init(body: Data, write: (inout Writer) -> Void) {
            var writer = Writer()
            writer.bytes.reserveCapacity(512)
            writer.lines.reserveCapacity(16)
            write(&writer)
            (lineCount, bodyOffset) = (writer.lines.count, writer.bytes.count)
            let listSize = lineCount * MemoryLayout<curl_slist>.stride
            block = .allocate(
                byteCount: listSize + bodyOffset + body.count, alignment: MemoryLayout<curl_slist>.alignment)
            strings = block + listSize
            writer.bytes.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(start: strings, count: $0.count).copyMemory(from: $0)
            }
            body.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(start: strings + bodyOffset, count: $0.count).copyMemory(from: $0)
            }
            let nodes = block.bindMemory(to: curl_slist.self, capacity: lineCount)
            for (index, position) in writer.lines.enumerated() {
                let next = index + 1 < lineCount ? nodes + index + 1 : nil
                (nodes + index).initialize(
                    to: curl_slist(data: (strings + position).assumingMemoryBound(to: CChar.self), next: next))
            }
        }

        deinit { block.deallocate() }

        /// The string at a position of the writer.
        func string(at position: Int) -> UnsafePointer<CChar> {
            UnsafePointer((strings + position).assumingMemoryBound(to: CChar.self))
        }

        var lines: UnsafePointer<curl_slist>? {
            lineCount == 0 ? nil : UnsafePointer(block.assumingMemoryBound(to: curl_slist.self))
        }

        var body: UnsafeRawPointer { UnsafeRawPointer(strings + bodyOffset) }
    }
#endif
