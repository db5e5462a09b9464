// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A stored response without its body, and the times from which its age is calculated (RFC 9111, 4.2.3).
struct CachedHead: Equatable, Sendable {
    var status: Int
    /// The headers without those that belong to the connection (RFC 9111, 3.1).
    var headers: HTTPHeaders
    var requestTime: Int64
    /// When the response arrived or a 304 confirmed it, in seconds since 1970.
    var responseTime: Int64
    /// When the response with its body and its signature arrived. A 304 doesn't change it.
    var receivedTime: Int64
    /// The request fields that `Vary` names, normalized. A value is nil if the request did not have the field.
    var varied: [VariedField]
    var respondingServer: HTTPOrigin?

    /// A request field that selects a variant (RFC 9111, 4.1).
    struct VariedField: Hashable, Sendable {
        let name: String
        let value: String?

        static func == (left: VariedField, right: VariedField) -> Bool {
            left.name == right.name && left.value.bytes == right.value.bytes
        }

        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    var control: CacheControl { CacheControl(headers) }

    /// - Parameter receivedTime: when the response with its body arrived. Default: nil (the same as `responseTime`).
    init(
        status: Int, headers: HTTPHeaders, requestTime: Int64, responseTime: Int64, receivedTime: Int64? = nil,
        varied: [VariedField] = [], respondingServer: HTTPOrigin? = nil
    ) {
        (self.status, self.headers, self.varied) = (status, headers, varied)
        (self.requestTime, self.responseTime) = (requestTime, responseTime)
        (self.receivedTime, self.respondingServer) = (receivedTime ?? responseTime, respondingServer)
    }

    var receivedDate: Date { Date(timeIntervalSince1970: Double(receivedTime)) }

    /// The times that can be used to calculate ages and lifetimes without an overflow: about 35,000 years around 1970.
    static let times: ClosedRange<Int64> = -1 << 40...1 << 40
}

extension CachedHead {
    init(_ response: HTTPResponse, to request: HTTPRequest, requestTime: Int64, responseTime: Int64) {
        self.init(
            status: response.status.code, headers: Self.storable(response.headers), requestTime: requestTime,
            responseTime: responseTime, varied: Vary.fields(Vary.names(in: response.headers) ?? [], of: request),
            respondingServer: response.respondingServer)
    }

    /// Returns the headers, except for those that belong to one connection and those that `Connection` names.
    static func storable(_ headers: HTTPHeaders) -> HTTPHeaders {
        let named = Set(ASCII.members(of: headers.values(for: .connection)).map { HTTPHeaders.Name($0) })
        return HTTPHeaders(headers.filter { $0.name.fieldClass != .connection && !named.contains($0.name) })
    }

    /// Returns the head after a 304 (RFC 9111, 3.2 and 4.3.4).
    ///
    /// It keeps the fields that describe the stored body. It also keeps the stored signature with all fields that it
    /// covers, because a signature in the 304 is for a message without a body.
    func updated(by response: HTTPResponse, requestTime: Int64, responseTime: Int64) -> CachedHead {
        var head = self
        // The names of covered fields are in quotation marks (RFC 9421, 2.1).
        let quoted = headers.values(for: "Signature-Input").flatMap { $0.split(at: "\"") }
        let covered = Set(quoted.map { HTTPHeaders.Name(String($0)) })
        var new = HTTPHeaders(Self.storable(response.headers).filter { !covered.contains($0.name) })
        new = HTTPHeaders(new.filter { ![.content, .digest, .signature].contains($0.name.fieldClass) })
        // The stored `Age` would make the updated response appear too old.
        head.headers[.age] = nil
        if !new.contains(.date), !covered.contains(.date) { head.headers[.date] = nil }
        head.headers.replace(with: new)
        (head.requestTime, head.responseTime) = (requestTime, responseTime)
        return head
    }
}

/// The request fields that select among several stored responses for a URL (RFC 9111, 4.1).
enum Vary {
    /// Returns the names in `Vary` in lower case, sorted and without duplicates. Returns nil if the list contains `*`
    /// or a member that is not a name. Such a member counts as `*`, because it is unknown which field the server meant.
    static func names(in headers: HTTPHeaders) -> [String]? {
        guard headers.contains(.vary) else { return [] }
        let names = ASCII.members(of: headers.values(for: .vary)).map(ASCII.lowercased)
        return names.allSatisfy { ASCII.isToken($0) } && !names.contains("*") ? Set(names).sorted() : nil
    }

    /// Returns a request field value, normalized so that values with the same meaning are equal. Returns nil if the
    /// request lacks the field.
    ///
    /// The result is stored, so a secret value is replaced by its hash, and a signature by a hash over its identity.
    static func value(of name: String, in request: HTTPRequest) -> String? {
        let fieldName = HTTPHeaders.Name(name)
        let headers = request.framedHeaders()
        let signature = request.signature.flatMap { $0.headers.contains(fieldName) ? $0.identity : nil }
        guard let value = signature ?? headers[fieldName] else { return nil }
        if signature != nil || fieldName == .cookie
            || headers.contains(where: { $0.name == fieldName && request.isSecret($0) })
        {
            return "#" + SHA256Hash.hash(Array(value.utf8)).map { String($0, radix: 16) }.joined(separator: ".")
        }
        // A quoted string may contain commas.
        guard !value.utf8.contains(UInt8(ascii: "\"")) else { return value }
        let members = ASCII.members(of: [value])
        guard fieldName == .acceptLanguage else { return members.joined(separator: ",") }
        // The order of languages with the same quality has no meaning, and neither has their case.
        return members.map { ASCII.lowercased($0.split(at: " ").joined()) }.sorted().joined(separator: ",")
    }

    static func fields(_ names: [String], of request: HTTPRequest) -> [CachedHead.VariedField] {
        names.map { CachedHead.VariedField(name: $0, value: value(of: $0, in: request)) }
    }
}

/// How old a stored response is, and how long it is fresh (RFC 9111, 4.2), in seconds.
struct CacheFreshness: Equatable, Sendable {
    let age: Int64
    /// The age at which the response becomes stale.
    let lifetime: Int64
    /// Whether the lifetime was estimated from `Last-Modified`.
    let isHeuristic: Bool

    var isFresh: Bool { age < lifetime }
    var staleness: Int64 { max(0, age - lifetime) }

    /// - Parameter now: the current time in seconds since 1970. If it is before the response arrived, the age is
    ///   unknown, so the response is stale.
    init(_ head: CachedHead, now: Int64) {
        let date = head.headers[.date].flatMap { Self.date($0, now: head.responseTime) } ?? head.responseTime
        age = Self.age(of: head, date: date, now: now)
        (lifetime, isHeuristic) = Self.lifetime(of: head, date: date)
    }

    private static func age(of head: CachedHead, date: Int64, now: Int64) -> Int64 {
        guard now >= head.responseTime else { return 1 << 31 }
        let apparent = max(0, head.responseTime - date)
        let delay = max(0, head.responseTime - head.requestTime)
        let corrected = ageValue(head.headers) + delay
        return max(apparent, corrected) + (now - head.responseTime)
    }

    /// Returns the first value of `Age`, or 0 if it is malformed (RFC 9111, 5.1).
    private static func ageValue(_ headers: HTTPHeaders) -> Int64 {
        let first = headers.first { $0.name == .age }?.value.split(at: ",").first
        return first.flatMap { CacheControl.deltaSeconds(ASCII.trimmed($0)) } ?? 0
    }

    private static func lifetime(of head: CachedHead, date: Int64) -> (Int64, isHeuristic: Bool) {
        if let seconds = head.control.seconds("max-age") { return (seconds, false) }
        if head.headers.contains(.expires) {
            // A malformed date counts as a date in the past (RFC 9111, 5.3).
            let values = head.headers.values(for: .expires)
            guard let value = values.first, values.allSatisfy({ $0.isSame(as: value) }),
                let end = self.date(value, now: head.responseTime)
            else { return (0, false) }
            return (max(0, end - date), false)
        }
        guard CacheRules.isHeuristicallyCacheable(head),
            let modified = head.headers[.lastModified].flatMap({ self.date($0, now: head.responseTime) }),
            modified < date
        else { return (0, false) }
        // A tenth of the time since the last change (RFC 9111, 4.2.2), at most a day.
        return (min((date - modified) / 10, 86_400), true)
    }

    /// Parses a date. Its spaces must be exact: two spaces in succession occur only before the day in the asctime
    /// format.
    static func date(_ text: String, now: Int64) -> Int64? {
        text.utf8.count == 24 || !text.holds("  ") ? HTTPDate.seconds(of: text, now: now) : nil
    }
}

/// A single byte range from a stored response (RFC 9110, 14).
struct CachedRange {
    private let bytes: Data
    private let field: String

    /// Returns nil if the stored response is not a 200 in memory, or if the request does not ask for one satisfiable
    /// range.
    init?(_ request: HTTPRequest, of entry: CachedEntry) {
        guard request.method == .get, entry.head.status == 200, case .data(let data) = entry.body,
            let text = request.headers[.range], let range = Self.range(text, count: data.count)
        else { return nil }
        bytes = data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]
        field = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(data.count)"
    }

    func apply(to response: inout HTTPResponse) {
        response.status = .partialContent
        response.headers[.contentRange] = field
        response.headers[.contentLength] = String(bytes.count)
        response.body = HTTPResponseBody(Data(bytes))
    }

    /// Parses `bytes=first-last`, `bytes=first-` and `bytes=-length`.
    static func range(_ text: String, count: Int) -> Range<Int>? {
        guard let (unit, ranges) = text.cut(at: "="), ASCII.keyword(unit) == "bytes" else { return nil }
        let ends = ranges.split(at: "-", omittingEmpty: false).map { ASCII.trimmed($0) }
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        let (first, last) = (Int(ends[0]), Int(ends[1]))
        switch (first, last) {
        case (let first?, let last?): return first <= last && first < count ? first..<min(last, count - 1) + 1 : nil
        case (let first?, nil): return ends[1].isEmpty && first < count ? first..<count : nil
        case (nil, let length?):
            return ends[0].isEmpty && length > 0 && count > 0 ? max(0, count - length)..<count : nil
        case (nil, nil): return nil
        }
    }
}
