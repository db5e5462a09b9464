// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

extension MockServer {
    /// A mistake that a server makes when a client requests a range. Use it to test resumed downloads.
    public enum RangeFault: Sendable, Hashable {
        /// The server ignores the range, and responds with 200 and the whole content.
        case ignored
        /// The server ignores `If-Range`, and responds with 206 even if the content has changed.
        case unconditional
        /// The server responds with 416 and the content length, even for a range inside it.
        case refused
        /// The range in `Content-Range` begins a number of bytes after the requested one.
        case shifted(by: Int)
        /// The `Content-Range` contains a wrong content length.
        case length(Int)
    }
}

extension MockServer.Response {
    /// Returns a response like a server that offers a resource, with validators, conditional requests, ranges and HEAD
    /// (RFC 9110, 13 and 14).
    ///
    /// ```swift
    /// let server = try await MockServer.start { request in
    ///     .content(file, for: request, maximumAge: .seconds(60))
    /// }
    /// ```
    ///
    /// The request determines the status:
    ///
    /// - 304 for an `If-None-Match` with the entity tag, and for an `If-Modified-Since` that isn't before the
    ///   modification
    /// - 206 for a single byte range. With `If-Range`, the range counts only if the entity tag is the same.
    /// - 416 for a range outside the content
    /// - 200 otherwise. Other ranges, such as several ranges in one request, are ignored, as the RFC allows.
    ///
    /// - Parameters:
    ///   - content: the resource bytes.
    ///   - request: the request.
    ///   - type: the media type. Default: `application/octet-stream`.
    ///   - eTag: the entity tag, with its quotation marks. Default: nil (a content hash).
    ///   - modified: when the resource was last changed. Default: nil (not sent).
    ///   - maximumAge: how long a cache may use the response. Default: nil (no `Cache-Control`).
    ///   - cut: how many body bytes the server sends before it closes the connection, to test resumed downloads.
    ///     Default: nil (the whole body is sent).
    ///   - fault: the mistake that the server makes when a client requests a range. Default: nil (none).
    public static func content(
        _ content: Data, for request: MockServer.Request, type: MediaType = "application/octet-stream",
        eTag: String? = nil, modified: Date? = nil, maximumAge: Duration? = nil, cutAt cut: Int? = nil,
        rangeFault fault: MockServer.RangeFault? = nil
    ) -> MockServer.Response {
        let tag = eTag ?? ContentOrigin.tag(of: content)
        var headers: HTTPHeaders = [.eTag: tag, .acceptRanges: "bytes"]
        if let modified { headers[.lastModified] = ContentOrigin.date(modified) }
        if let maximumAge { headers[.cacheControl] = "max-age=\(maximumAge.components.seconds)" }
        let origin = ContentOrigin(content: content, tag: tag, modified: modified, headers: headers, fault: fault)
        var response = origin.response(to: request.headers, isHead: request.method == .head)
        if response.status != .notModified { response.headers[.contentType] = type.description }
        guard let cut, cut < response.body.count else { return response }
        response.headers[.contentLength] = "\(response.body.count)"
        response.body = response.body.prefix(max(0, cut))
        return response
    }
}

/// A resource with its validators.
private struct ContentOrigin {
    let content: Data
    let tag: String
    let modified: Date?
    let headers: HTTPHeaders
    let fault: MockServer.RangeFault?

    static func tag(of content: Data) -> String {
        "\"\(RandomBytes.base64URL(Array(SHA256Hash.hash(Array(content)).prefix(8))))\""
    }

    /// Returns a date in the format of RFC 9110, 5.6.7.
    static func date(_ date: Date) -> String {
        var seconds = time_t(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0
        // The system stores numbers, and the name of a time zone, which is never read.
        var time = unsafe tm()
        unsafe gmtime_r(&seconds, &time)
        let day = unsafe ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(time.tm_wday)]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = unsafe [time.tm_hour, time.tm_min, time.tm_sec].map(twoDigits).joined(separator: ":")
        let month = unsafe months[Int(time.tm_mon)]
        return unsafe "\(day), \(twoDigits(time.tm_mday)) \(month) \(1900 + Int(time.tm_year)) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

    func response(to conditions: HTTPHeaders, isHead: Bool) -> MockServer.Response {
        if isNotModified(conditions) { return MockServer.Response(status: .notModified, headers: headers) }
        let isRangeWanted = fault == .unconditional || conditions[.ifRange].map { $0 == tag } ?? true
        guard isRangeWanted, fault != .ignored, !isHead,
            let range = conditions[.range].flatMap({ Self.range($0, in: content.count) })
        else {
            return MockServer.Response(headers: headers, body: content)
        }
        var headers = headers
        guard !range.isEmpty, fault != .refused else {
            headers[.contentRange] = "bytes */\(content.count)"
            return MockServer.Response(status: .rangeNotSatisfiable, headers: headers)
        }
        var (first, length) = (range.lowerBound, content.count)
        if case .shifted(let distance) = fault { first += distance }
        if case .length(let other) = fault { length = other }
        headers[.contentRange] = "bytes \(first)-\(range.upperBound - 1)/\(length)"
        let start = content.startIndex
        return MockServer.Response(
            status: .partialContent, headers: headers,
            body: Data(content[(start + range.lowerBound)..<(start + range.upperBound)]))
    }

    private func isNotModified(_ conditions: HTTPHeaders) -> Bool {
        if let tags = conditions[.ifNoneMatch] {
            return ASCII.members(of: [tags]).contains {
                $0.isSame(as: "*") || $0.isSame(as: tag) || $0.isSame(as: "W/\(tag)")
            }
        }
        guard let modified, let since = conditions[.ifModifiedSince],
            let seconds = HTTPDate.seconds(of: since, now: Int64(Date().timeIntervalSince1970))
        else { return false }
        return Int64(modified.timeIntervalSince1970) <= seconds
    }

    /// Returns a single byte range, which is empty if it is outside the content. Returns nil for any other range.
    private static func range(_ text: String, in count: Int) -> Range<Int>? {
        guard let match = text.wholeMatch(of: /bytes=(\d*)-(\d*)/) else { return nil }
        switch (Int(match.1), Int(match.2)) {
        case (let first?, let last?): return first <= last && first < count ? first..<min(last + 1, count) : 0..<0
        case (let first?, nil) where match.2.isEmpty: return first < count ? first..<count : 0..<0
        case (nil, let last?) where match.1.isEmpty: return max(0, count - last)..<count
        default: return nil
        }
    }
}

extension MockServer.Response {
    /// Returns a response with server-sent events (HTML Standard, section 9.2). Each event is a separate chunk.
    ///
    /// ```swift
    /// .events([ServerSentEvent(data: "one"), ServerSentEvent(data: "two", id: "2")], every: .milliseconds(100))
    /// ```
    ///
    /// After the last event, the connection stays open for the next request. The identifier and the retry time of an
    /// event are sent only if they are set. The type is sent only if it isn't `message`.
    ///
    /// - Parameters:
    ///   - events: the events, in order.
    ///   - interval: the time between two events. Default: zero.
    ///   - clock: measures the time. Default: the continuous clock.
    public static func events(
        _ events: [ServerSentEvent], every interval: Duration = .zero,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> MockServer.Response {
        var response = MockServer.Response(headers: ["Content-Type": "text/event-stream"])
        response.chunks = { send in
            for (index, event) in events.enumerated() {
                if index > 0, interval > .zero {
                    guard (try? await clock.pause(for: interval)) != nil else { return }
                }
                try await send(Data(event.eventStreamText.utf8))
            }
        }
        return response
    }
}

extension ServerSentEvent {
    /// The text of the event in an event stream.
    var eventStreamText: String {
        var text = event == "message" ? "" : "event: \(event)\n"
        if let id { text += "id: \(id)\n" }
        if let retry { text += "retry: \(retry.wholeMilliseconds)\n" }
        for line in data.split(at: "\n", omittingEmpty: false) { text += "data: \(line)\n" }
        return text + "\n"
    }
}
