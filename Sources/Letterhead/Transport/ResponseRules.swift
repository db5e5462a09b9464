// SPDX-License-Identifier: MIT

/// The rules for the lines of a response. A transport applies them to each line that arrives, before it reads the body
/// and before the caller parses the lines with ``ResponseHead``.
///
/// They refuse what a different parser could interpret as a different message (RFC 9112, 11), and they determine where
/// the body ends and whether the connection can be used again. They read the bytes of the lines in place, and create no
/// strings.
struct ResponseRules {
    /// What the end of a section completes.
    enum Section {
        /// The head of an interim response. The next head follows.
        case interim
        case head, trailers
    }

    private enum Expected {
        case statusLine, fields, trailers
    }

    /// The last line with a name, which the next line may continue.
    private enum Line {
        case none, ordinary, connection, framing
    }

    /// The status code of the current head, or 0 before its first line.
    private(set) var status = 0
    /// Whether the body is compressed.
    private(set) var isCoded = false
    private(set) var framing = ResponseFraming()
    private(set) var isHTTP10 = false
    /// The number of bytes of all heads and of the trailers.
    private(set) var headBytes = 0
    private var expected = Expected.statusLine
    private var last = Line.none
    private var (asksToClose, asksToKeep) = (false, false)
    private let limit: Int
    private let isSecure: Bool

    /// Creates rules that expect a status line.
    ///
    /// - Parameters:
    ///   - limit: the largest number of bytes of all heads and of the trailers.
    ///   - isSecure: whether the request uses TLS, for advice in error messages.
    init(limit: Int, isSecure: Bool = true) {
        self.limit = limit
        self.isSecure = isSecure
    }

    /// Whether the next response follows this head: 1xx, except 101 (RFC 9110, 15.2).
    var isInterim: Bool { (100...199).contains(status) && status != 101 }

    /// Whether the head of a response has begun. Interim responses and a part of a status line don't count.
    var isInHead: Bool { expected == .fields }

    /// Whether the connection persists after the response (RFC 9112, 9.3), unless its end is the end of the body. After
    /// chunks from HTTP/1.0, the framing is in doubt (RFC 9112, 6.1).
    var keepsConnection: Bool {
        !asksToClose && status != 101 && (!isHTTP10 || asksToKeep && !framing.hasTransferCoding)
    }

    /// Counts bytes toward the limit of the head.
    mutating func count(_ bytes: Int) throws(TransportFailure) {
        headBytes += bytes
        try check(unfinished: 0)
    }

    /// Checks the limit while a line is unfinished.
    func check(unfinished: Int) throws(TransportFailure) {
        guard headBytes + unfinished <= limit else {
            throw TransportFailure(
                .responseTooLarge,
                "the head of the response is larger than the \(limit) bytes allowed (to allow more, raise "
                    + "maximumHeadSize)")
        }
    }

    /// Checks the beginning of a status line, so that a server that doesn't speak HTTP is not waited for.
    func check(beginning: UnsafeBufferPointer<UInt8>) throws(TransportFailure) {
        guard unsafe expected != .statusLine || beginning.startsLikeHTTP else { throw .notHTTP(isSecure: isSecure) }
    }

    /// Reads a line, with its end. Returns the section that it completes.
    ///
    /// - Parameter isMultiplexed: whether the connection uses HTTP/2 or HTTP/3.
    mutating func read(
        _ line: UnsafeBufferPointer<UInt8>, isMultiplexed: Bool
    ) throws(TransportFailure) -> Section? {
        if !isMultiplexed { try unsafe check(beginning: line) }
        try count(line.count)
        let content = unsafe line.withoutLineEnd
        if expected == .statusLine {
            try unsafe begin(content, isMultiplexed: isMultiplexed)
            return nil
        }
        guard content.isEmpty else {
            try unsafe note(content)
            return nil
        }
        last = .none
        if expected == .trailers { return .trailers }
        expected = isInterim ? .statusLine : .trailers
        return isInterim ? .interim : .head
    }

    /// Reads a status line. It is refused if it claims a different protocol than the one of the connection: libcurl
    /// would believe the claim, and send other requests on an HTTP/1.1 connection before this response has ended.
    /// Callers would then receive the responses of each other.
    private mutating func begin(
        _ line: UnsafeBufferPointer<UInt8>, isMultiplexed: Bool
    ) throws(TransportFailure) {
        let bytes = headBytes
        self = ResponseRules(limit: limit, isSecure: isSecure)
        (headBytes, expected) = (bytes, .fields)
        guard unsafe line.claimsHTTP2 == isMultiplexed else {
            throw TransportFailure(
                .invalidResponse,
                isMultiplexed
                    ? "the status line does not belong to HTTP/2 or HTTP/3, which the connection uses"
                    : "the status line claims HTTP/2 on an HTTP/1.1 connection")
        }
        guard unsafe isMultiplexed || line.claimsHTTP1 else { throw .notHTTP(isSecure: isSecure) }
        isHTTP10 = unsafe !isMultiplexed && line[7] == UInt8(ascii: "0")
        guard let code = unsafe ResponseHead.statusCode(of: line),
            unsafe !line.contains(where: { $0 == 0 || $0 == 0x0D })
        else {
            throw TransportFailure(.invalidResponse, "the status line is malformed")
        }
        status = code
    }

    /// Checks a field, or a part of a folded value (RFC 9112, 5.2), and notes what frames the message.
    private mutating func note(_ line: UnsafeBufferPointer<UInt8>) throws(TransportFailure) {
        guard unsafe !ASCII.isBlank(line[0]) else {
            switch last {
            case .none: throw TransportFailure(.invalidResponse, "the first header line begins with a space or a tab")
            case .framing: throw TransportFailure(.invalidResponse, "a header field that frames the body is folded")
            case .ordinary: try unsafe line.checkFieldValue()
            // The folded options aren't read, and one of them may be close.
            case .connection:
                try unsafe line.checkFieldValue()
                asksToClose = true
            }
            return
        }
        let colon = try unsafe line.colon()
        let value = line.extracting((colon + 1)...)
        try unsafe value.checkFieldValue()
        last = .ordinary
        guard expected == .fields else { return }
        // Few other names have one of these lengths.
        switch colon {
        case 10 where unsafe line.hasName("connection"):
            unsafe value.forEachMember { option in
                if unsafe option.isKeyword("close") { asksToClose = true }
                if unsafe option.isKeyword("keep-alive") { asksToKeep = true }
            }
            last = .connection
        case 14 where unsafe line.hasName("content-length"):
            unsafe framing.noteLength(value)
            last = .framing
        case 16 where unsafe line.hasName("content-encoding"): isCoded = true
        case 17 where unsafe line.hasName("transfer-encoding"):
            unsafe framing.noteTransferCoding(value)
            last = .framing
        default: break
        }
        // At once, because the end of the head may never arrive.
        if last == .framing, let fault = framing.fault { throw TransportFailure(.invalidResponse, fault) }
    }
}

extension TransportFailure {
    static func notHTTP(isSecure: Bool) -> TransportFailure {
        let advice = isSecure ? "" : " (if the port expects TLS, write https)"
        return TransportFailure(
            .invalidResponse, "the response is not HTTP, or has an unsupported version of HTTP\(advice)")
    }

    static let truncated = TransportFailure(.invalidResponse, "the response is truncated")
    static let incompleteHead = TransportFailure(
        .invalidResponse, "the connection was closed before the head of the response was complete")
    static let brokenChunks = TransportFailure(.invalidResponse, "the response's chunks are malformed")
    static let unknownCoding = TransportFailure(
        .invalidResponse, "the response has a transfer coding that the request did not offer")
    static let noResponse = TransportFailure(.connectionLost, "the server closed the connection without a response")

    /// The code and the message, for a result of libcurl with the same meaning.
    var meaning: (HTTPError.Code, String) { (code, message) }
}

// These members read the bytes of one line. The caller keeps the memory until they return.
extension UnsafeBufferPointer<UInt8> {
    /// The line without its CRLF or bare LF, which a recipient may accept (RFC 9112, 2.2).
    fileprivate var withoutLineEnd: Self {
        var end = count
        if end > 0, unsafe self[end - 1] == 0x0A { end -= 1 }
        if end > 0, unsafe self[end - 1] == 0x0D { end -= 1 }
        return extracting(..<end)
    }

    /// Whether a line may become a status line.
    fileprivate var startsLikeHTTP: Bool {
        let start: StaticString = "HTTP/"
        return (0..<Swift.min(count, 5)).allSatisfy { unsafe self[$0] == start.utf8Start[$0] }
    }

    fileprivate var claimsHTTP2: Bool {
        unsafe count > 5 && startsLikeHTTP && (UInt8(ascii: "2")...UInt8(ascii: "9")).contains(self[5])
    }

    /// Whether a line begins with HTTP/1.0 or HTTP/1.1 and a space.
    fileprivate var claimsHTTP1: Bool {
        guard count > 8, unsafe startsLikeHTTP, unsafe self[5] == UInt8(ascii: "1") else { return false }
        return unsafe self[6] == UInt8(ascii: ".") && (self[7] | 1) == UInt8(ascii: "1") && self[8] == 0x20
    }

    /// Returns the position of the colon after the name of a field.
    func colon() throws(TransportFailure) -> Int {
        var colon = 0
        while colon < count, unsafe ASCII.isTokenCharacter(self[colon]) { colon += 1 }
        guard colon > 0, colon < count, unsafe self[colon] == UInt8(ascii: ":") else {
            throw TransportFailure(.invalidResponse, "a header name is not a token of RFC 9110")
        }
        return colon
    }

    /// Checks a value, and returns whether it is ASCII.
    @discardableResult func checkFieldValue() throws(TransportFailure) -> Bool {
        // Inspecting all bytes without a branch for each is faster: values are short, and few are refused.
        var (least, all) = (UInt8.max, UInt8(0))
        for place in indices {
            let byte = unsafe self[place]
            least = Swift.min(least, byte)
            all |= byte
        }
        guard unsafe least >= 0x20 || !contains(where: { $0 == 0 || $0 == 0x0D }) else {
            throw TransportFailure(.invalidResponse, "a header value contains NUL or a bare CR")
        }
        return all < 0x80
    }

    /// Returns whether the line begins with a name, in any case. The name consists of lower-case letters and hyphens.
    ///
    /// Setting the bit 0x20 turns upper-case letters into lower-case letters. Apart from them, only CR becomes a byte
    /// of the name, which is a hyphen, and the line contains no CR there.
    fileprivate func hasName(_ name: StaticString) -> Bool {
        name.withUTF8Buffer { name in name.indices.allSatisfy { unsafe self[$0] | 0x20 == name[$0] } }
    }

    /// Returns whether the bytes are a keyword, which is in lower case, between spaces and tabs.
    fileprivate func isKeyword(_ word: StaticString) -> Bool {
        let bytes = unsafe trimmed
        return unsafe bytes.count == word.utf8CodeUnitCount && bytes.hasName(word)
    }

    /// Calls a closure with each member of a comma-separated list.
    fileprivate func forEachMember(_ visit: (Self) -> Void) {
        var start = 0
        while start <= count {
            let end = unsafe first(",", from: start, to: count) ?? count
            unsafe visit(extracting(start..<end))
            start = end + 1
        }
    }

    /// The bytes without leading and trailing spaces and tabs.
    var trimmed: Self {
        var (start, end) = (0, count)
        while start < end, unsafe ASCII.isBlank(self[start]) { start += 1 }
        while start < end, unsafe ASCII.isBlank(self[end - 1]) { end -= 1 }
        return extracting(start..<end)
    }

    /// The number that the digits between spaces and tabs are, or nil.
    fileprivate var decimal: Int? {
        let digits = unsafe trimmed
        guard !digits.isEmpty else { return nil }
        var (number, isOver) = (0, false)
        for place in digits.indices {
            let byte = unsafe digits[place]
            guard (48...57).contains(byte) else { return nil }
            (number, isOver) = number.multipliedReportingOverflow(by: 10)
            if isOver { return nil }
            (number, isOver) = number.addingReportingOverflow(Int(byte - 48))
            if isOver { return nil }
        }
        return number
    }
}

/// How the header fields of a response frame its body (RFC 9112, 6.3).
struct ResponseFraming {
    private var length: Int?
    private var hasLength = false
    private var isContradictory = false
    private var hasUnknownCoding = false
    private(set) var hasTransferCoding = false

    /// The declared length, or nil if it is missing, or if a transfer coding marks the end.
    var bodyLength: Int? { hasTransferCoding ? nil : length }

    var endsWithConnection: Bool { !hasLength && !hasTransferCoding }

    /// The contradiction between the fields, or nil if they agree.
    var fault: String? {
        if isContradictory || hasLength && length == nil {
            return "the Content-Length fields disagree or are not numbers"
        }
        // Requests never offer a transfer coding other than chunked (RFC 9110, 10.1.4), and chunked is applied once.
        if hasUnknownCoding { return TransportFailure.unknownCoding.message }
        // A client that trusts the length would parse the chunks, or what follows them, as the next response.
        return hasTransferCoding && hasLength ? "the response has a Content-Length and a Transfer-Encoding" : nil
    }

    mutating func noteTransferCoding(_ value: UnsafeBufferPointer<UInt8>) {
        if unsafe hasTransferCoding || !value.isKeyword("chunked") { hasUnknownCoding = true }
        hasTransferCoding = true
    }

    /// Notes the value of a Content-Length field, which may be a list of equal numbers.
    mutating func noteLength(_ value: UnsafeBufferPointer<UInt8>) {
        hasLength = true
        unsafe value.forEachMember { member in
            let number = unsafe member.decimal
            if number == nil || length != nil && length != number { isContradictory = true }
            length = number
        }
    }
}
