// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    /// A valid request in the form that its carrier needs. It contains the body and the time limits, and either the URL
    /// and the header lines for libcurl, or the whole head for a direct connection.
    struct CurlPlan: Sendable {
        enum Content: Sendable {
            /// No body and no `Content-Length`.
            case none
            /// A small body that is stored after the header lines. libcurl sends it together with the head if both fit.
            case copied(count: Int)
            /// A body in memory. libcurl pulls pieces from it.
            case held(Data)
            /// A body that a task produces. libcurl pulls pieces from it.
            case pulled(SendPipe)

            fileprivate var framing: RequestHead.Framing {
                switch self {
                case .none: .none
                case .copied(let count): .length(count)
                case .held(let data): .length(data.count)
                case .pulled(let source): source.length.map { .length($0) } ?? .chunks
                }
            }
        }

        let method: HTTPMethod
        let isSecure: Bool
        /// The URL up to its path.
        let origin: String
        let httpVersion: CurlHTTPVersion
        /// The digests of the pinned public keys. The server must have one of the keys, unless this is empty.
        let pinnedKeys: [Data]
        let content: Content
        // Time limits in nanoseconds: for an attempt, for a connection without activity, for the first byte of the
        // response, and for the whole load until its deadline. `UInt64.max` means no limit.
        let (timeout, idleTimeout, firstByteTimeout, timeLeft): (UInt64, UInt64, UInt64, UInt64)
        /// The time limit for connecting, in milliseconds.
        let connectTimeout: Int
        /// The maximum ratio of decompressed to compressed bytes, or nil if the response isn't decompressed.
        let decodingRatio: Int?
        /// The maximum size of the response head, in bytes.
        let headLimit: Int
        /// The head for a direct connection, followed by a small body. Empty if libcurl writes the request.
        let head: [UInt8]
        /// Whether a direct connection sends the body only after the server has agreed (RFC 9110, 10.1.1).
        let awaitsConsent: Bool
        /// Whether the request asks the server to close a direct connection.
        let closesConnection: Bool
        private let text: CurlText
        /// Whether the request target is stored separately, because the URL doesn't end with it: the URL has an empty
        /// path or a fragment.
        private let isTargetApart: Bool
        private let targetPosition: Int
        private let methodPosition: Int

        private static let copyLimit = 64 << 10

        /// Creates the plan for a request that has been validated and framed.
        ///
        /// - Parameters:
        ///   - request: the request.
        ///   - body: the bytes to send. If it is nil, neither a body nor its length is sent.
        ///   - configuration: the default time limits, whether responses are decompressed, and the proxy.
        init(_ request: HTTPRequest, body: BodyChunks?, _ configuration: TransportConfiguration) {
            method = request.method
            isSecure = ASCII.equalIgnoringCase(request.scheme, "https")
            httpVersion = CurlHTTPVersion(configuration.httpVersions, isSecure: isSecure)
            pinnedKeys = isSecure ? configuration.security.pinnedKeys(of: request.host ?? "") : []
            timeout = request.timeout?.wholeNanoseconds ?? .max
            idleTimeout = (request.idleTimeout ?? configuration.idleTimeout)?.wholeNanoseconds ?? .max
            let connectLimit = request.connectTimeout ?? configuration.connectTimeout
            connectTimeout = connectLimit?.wholeMilliseconds ?? Int(CInt.max)
            firstByteTimeout = configuration.firstByteTimeout?.wholeNanoseconds ?? .max
            timeLeft = request.timeLeft?.wholeNanoseconds ?? .max
            decodingRatio = configuration.decodesContent ? configuration.maximumDecodingRatio : nil
            headLimit = configuration.maximumHeadSize
            let isDirect = configuration.isCarriedDirectly(request)
            // libcurl compares the hosts of its connections in the same way.
            let origin = ByteText.text(atMost: request.urlCapacity) { [isSecure] text in
                guard isDirect else { return request.writeOrigin(to: &text) }
                text.append(isSecure ? "https://" : "http://")
                request.writeHost(to: &text)
            }
            self.origin = isDirect ? ASCII.lowercased(origin) : origin
            let expectation = isDirect && body != nil ? request.headers[.expect] : nil
            awaitsConsent = expectation.map { ASCII.equalIgnoringCase($0, "100-continue") } ?? false
            closesConnection =
                isDirect && request.headers.contains(.connection)
                && ASCII.members(of: request.headers.values(for: .connection)).map(ASCII.keyword).contains("close")
            var tail = Data()
            switch (body, body?.data) {
            case (nil, _): content = .none
            case (_, let data?) where data.count <= Self.copyLimit && (!awaitsConsent || data.isEmpty):
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
            guard !isDirect else {
                head = RequestHead.bytes(
                    of: request, framing: content.framing, decodesContent: configuration.decodesContent, body: tail)
                (text, isTargetApart, targetPosition, methodPosition) = (.empty, false, 0, 0)
                return
            }
            head = []
            isTargetApart = request.path.string.isEmpty || request.fragment != nil
            var (targetPosition, methodPosition) = (0, 0)
            text = CurlText(body: tail) { [isTargetApart, origin] text in
                text.add(atMost: request.urlCapacity) { url in
                    request.writeOrigin(to: &url)
                    request.writeRest(to: &url)
                }
                targetPosition = isTargetApart ? text.position : origin.utf8.count
                if isTargetApart { text.add(request.target) }
                methodPosition = text.position
                text.add(request.method.rawValue)
                Self.addLines(of: request, hasBody: body != nil, configuration, to: &text)
            }
            (self.targetPosition, self.methodPosition) = (targetPosition, methodPosition)
        }

        /// Adds the header fields and `Accept-Encoding`, and removes the fields that libcurl would add.
        private static func addLines(
            of request: HTTPRequest, hasBody: Bool, _ configuration: TransportConfiguration,
            to text: inout CurlText.Writer
        ) {
            let headers = request.headers
            for field in headers { text.addLine(field.name.rawValue, field.value) }
            if let codings = request.offeredCodings(decodesContent: configuration.decodesContent) {
                text.addLine("Accept-Encoding", codings)
            }
            if request.omittedHeaders.contains(.host), !headers.contains(.host) { text.addLine("Host", nil) }
            if !headers.contains(.accept) { text.addLine("Accept", nil) }
            // libcurl would add this field to requests to a proxy. The CONNECT request of a tunnel has separate lines.
            if configuration.proxy.isInUse(isSecure: false), !headers.contains("Proxy-Connection") {
                text.addLine("Proxy-Connection", nil)
            }
            guard hasBody else { return }
            if !headers.contains(.contentType) { text.addLine("Content-Type", nil) }
            if !headers.contains(.expect) { text.addLine("Expect", nil) }
        }

        var url: UnsafePointer<CChar> { unsafe text.string(at: 0) }
        /// The request target for a proxy if it equals the URL, otherwise nil.
        var absoluteTarget: UnsafePointer<CChar>? { unsafe isTargetApart ? nil : url }
        var isDirect: Bool { !head.isEmpty }
        /// Whether a connection may carry other requests at the same time.
        var mayShareConnections: Bool {
            httpVersion != .http1 && (httpVersion != .http2 || CurlQuirks.reusesHTTP2WithoutTLS)
        }
        var target: UnsafePointer<CChar> { unsafe text.string(at: targetPosition) }
        var methodName: UnsafePointer<CChar> { unsafe text.string(at: methodPosition) }
        var headerLines: UnsafePointer<curl_slist>? { unsafe text.lines }
        var copiedBody: UnsafeRawPointer { unsafe text.body }

        /// Why libcurl cannot send the request, or nil if it can.
        var brokenRule: String? {
            guard CurlQuirks.losesFraming, text.bodyOffset > 32 << 10,
                httpVersion == .http1 || httpVersion == .http2OverTLS,
                case .pulled(let source) = content, source.length == nil
            else { return nil }
            return "a URL and headers of more than 32 KiB before a body of unknown length require libcurl 8.7 or "
                + "later, and the system's libcurl is older (set the length of the body)"
        }
    }

    /// C strings, a list of lines and the bytes of a body, in one block of memory.
    ///
    /// It owns the memory that libcurl reads, and each position is the start of a string in it. `@unchecked`: nothing
    /// is written after `init`.
    @safe final class CurlText: @unchecked Sendable {
        private let block: UnsafeMutableRawPointer
        private let strings: UnsafeMutableRawPointer
        private let lineCount: Int
        /// The size of all strings.
        let bodyOffset: Int

        /// Collects strings and lines. Each of them ends with a zero byte.
        struct Writer {
            fileprivate var bytes: [UInt8] = []
            fileprivate var lines: [Int] = []

            var position: Int { bytes.count }

            mutating func add(_ string: String) {
                append(string)
                bytes.append(0)
            }

            mutating func add(atMost count: Int, _ write: (inout ByteText) -> Void) {
                ByteText.add(atMost: count, to: &bytes, write)
                bytes.append(0)
            }

            /// Adds a header line. If the value is empty, a field with an empty value is sent. If the value is nil, the
            /// line suppresses the field that libcurl would add with that name.
            mutating func addLine(_ name: String, _ value: String?) {
                lines.append(bytes.count)
                append(name)
                append(value.map { $0.isEmpty ? ";" : ": " } ?? ":")
                add(value ?? "")
            }

            mutating func addLine(_ text: String) {
                lines.append(bytes.count)
                add(text)
            }

            private mutating func append(_ text: String) { text.withBytes { unsafe bytes.append(contentsOf: $0) } }
        }

        static let empty = CurlText(body: Data()) { $0.add("") }

        /// Creates the list for CURLOPT_CONNECT_TO. Each line contains a host and the address that replaces it.
        convenience init(connectTo addresses: [String: String]) {
            self.init(body: Data()) { text in
                for (host, address) in addresses.sorted(by: { $0.key < $1.key }) { text.addLine("\(host):\(address)") }
            }
        }

        init(body: Data, write: (inout Writer) -> Void) {
            var writer = Writer()
            writer.bytes.reserveCapacity(512)
            writer.lines.reserveCapacity(16)
            write(&writer)
            (lineCount, bodyOffset) = (writer.lines.count, writer.bytes.count)
            let listSize = unsafe lineCount * MemoryLayout<curl_slist>.stride
            unsafe block = .allocate(
                byteCount: listSize + bodyOffset + body.count, alignment: MemoryLayout<curl_slist>.alignment)
            unsafe strings = block + listSize
            unsafe writer.bytes.withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(start: strings, count: $0.count).copyMemory(from: $0)
            }
            unsafe body.withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(start: strings + bodyOffset, count: $0.count).copyMemory(from: $0)
            }
            let nodes = unsafe block.bindMemory(to: curl_slist.self, capacity: lineCount)
            for (index, position) in writer.lines.enumerated() {
                let next = unsafe index + 1 < lineCount ? nodes + index + 1 : nil
                unsafe (nodes + index).initialize(
                    to: curl_slist(data: (strings + position).assumingMemoryBound(to: CChar.self), next: next))
            }
        }

        deinit { unsafe block.deallocate() }

        func string(at position: Int) -> UnsafePointer<CChar> {
            unsafe UnsafePointer((strings + position).assumingMemoryBound(to: CChar.self))
        }

        var lines: UnsafePointer<curl_slist>? {
            unsafe lineCount == 0 ? nil : UnsafePointer(block.assumingMemoryBound(to: curl_slist.self))
        }

        var body: UnsafeRawPointer { unsafe UnsafeRawPointer(strings + bodyOffset) }
    }

    /// The HTTP version that libcurl offers, or uses, for a request. The raw values are those of CURLOPT_HTTP_VERSION.
    enum CurlHTTPVersion: Int {
        case http1 = 2
        case http2OverTLS = 4
        case http2 = 5
        case http3 = 30

        init(_ versions: TransportConfiguration.HTTPVersions, isSecure: Bool) {
            self =
                switch versions {
                case .http2PriorKnowledge where !isSecure: .http2
                case .http3 where isSecure: .http3
                case .http2, .http2PriorKnowledge: isSecure && CurlQuirks.offersHTTP2 ? .http2OverTLS : .http1
                case .http1, .http3: .http1
                }
        }

        /// Whether a connection carries several requests at the same time although libcurl returns no TLS session for
        /// it. HTTP/2 without TLS has no TLS session. HTTP/3 has one, but libcurl doesn't return it.
        var isMultiplexedWithoutSession: Bool { self == .http2 || self == .http3 }
    }
#endif
