// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

extension Cassette {
    /// Returns the response from the first unused entry that matches. If all are used and `repeatsEntries` is set, the
    /// last one responds. Returns nil without an entry to replay.
    func replay(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse? {
        guard replays else { return nil }
        if request.host != nil {
            try request.validate()
            if request.body.isReplayable { _ = try request.framedBody() }
            if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        }
        guard let entry = claim(CassetteKey(await archived(request), rules)) else { return nil }
        if let gap = entry.gap {
            let line = "\(request.method) \(request.redaction.outline(of: request))"
            throw refused(request, "the response to \(line) cannot be replayed: \(gap)")
        }
        let time = ReplayTime(request, clock, timeline, since: start(of: request))
        return try await request.withHTTPErrors {
            try await time.pass(entry.wait ?? 0, while: "waiting for the response")
            return try entry.result(of: request, time)
        }.delivered(to: request)
    }

    /// Returns when the first attempt of a request with a deadline began, on the cassette's clock, because a client may
    /// measure the deadline in real time, which doesn't pass in a test. Returns nil if the cassette measures real time.
    private func start(of request: HTTPRequest) -> Duration? {
        guard !(clock is ContinuousClock), request.deadline != nil else { return nil }
        let now = timeline.now
        return state.withLock { state in
            let start = state.starts[request.id] ?? now
            state.starts[request.id] = start
            return start
        }
    }

    /// Returns the error for a request without an entry. It names the nearest entry and the differences.
    func mismatch(of request: HTTPRequest) async -> HTTPError {
        let key = CassetteKey(await archived(request), rules)
        let used = state.withLock { $0.used }
        let found = recorded.enumerated().map { ($0, key.differences(from: $1.key)) }
        var message = "the cassette \(file.lastPathComponent) has no entry for \(request.method) "
        message += request.redaction.outline(of: request)
        if let (index, differences) = found.min(by: { Self.weight($0.1) < Self.weight($1.1) }) {
            var texts = differences.map(\.text)
            if texts.isEmpty, used.contains(index) { texts = ["it was already replayed (see repeatsEntries)"] }
            message += ", and the nearest is entry \(index + 1): \(texts.joined(separator: "; "))"
        } else {
            message += records ? ": record it with the link of the cassette" : ": it is empty"
        }
        if isFlight {
            message +=
                "; a flight has only the failed request, those that ran beside it, and earlier ones with the same "
            message += "trace or X-Correlation-ID"
        }
        return refused(request, message)
    }

    private static func weight(_ differences: [(weight: Int, text: String)]) -> Int {
        differences.reduce(0) { $0 + $1.weight }
    }

    /// Returns an error that ``verify()`` also throws.
    private func refused(_ request: HTTPRequest, _ message: String) -> HTTPError {
        state.withLock { if $0.refused.count < 20 { $0.refused.append(message) } }
        return HTTPError(.unexpectedRequest, request: request, message: message, mayHaveBeenSent: false)
    }

    private func claim(_ key: CassetteKey) -> HAR.Entry? {
        state.withLock { state in
            let fitting = recorded.indices.filter { index in
                let entry = recorded[index].entry
                guard entry.response.status >= 100 || entry.failure != nil else { return false }
                // A body that a flight recorder has not kept is not compared.
                var key = key
                if entry.request.postData?.isDropped == true { key.body = recorded[index].key.body }
                return recorded[index].key == key
            }
            let free =
                fitting.first { !state.used.contains($0) } ?? (rules.matching.repeatsEntries ? fitting.last : nil)
            if let free { state.used.insert(free) }
            return free.map { recorded[$0].entry }
        }
    }
}

/// Lets recorded waits pass on a clock, within the time limits of a request.
struct ReplayTime: Sendable {
    private let request: HTTPRequest
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    private let begin: Duration
    private let start: Duration?

    /// - Parameter start: when the request's deadline began, or nil if the client enforces it.
    init(_ request: HTTPRequest, _ clock: any Clock<Duration>, _ timeline: Timeline, since start: Duration?) {
        (self.request, self.clock, self.timeline, self.start, begin) = (request, clock, timeline, start, timeline.now)
    }

    /// Waits, and throws an error when the first limit passes.
    ///
    /// - Parameter milliseconds: the recorded wait. A file may contain any number.
    func pass(_ milliseconds: Double, while phase: String, isOpenEnded: Bool = false) async throws {
        let (now, wait) = (timeline.now, Duration(limiting: milliseconds / 1_000))
        let limits: [(left: Duration?, error: HTTPError)] = [
            (
                start.flatMap { start in request.deadline.map { $0 - (now - start) } },
                request.deadlinePassed(while: phase)
            ),
            (request.timeLeft, request.deadlinePassed(while: phase)),
            (isOpenEnded ? nil : request.timeout.map { $0 - (now - begin) }, passed("attempt timeout", phase)),
            (request.idleTimeout, passed("idle timeout", phase)),
        ]
        let first = limits.min { $0.left ?? .never < $1.left ?? .never }
        let left = max(min(first?.left ?? .never, wait), .zero)
        if left > .zero { try await clock.pause(for: left) }
        if let first, let limit = first.left, limit <= .zero || limit < wait { throw first.error }
    }

    private func passed(_ limit: String, _ phase: String) -> HTTPError {
        HTTPError(.timedOut, request: request, message: "the \(limit) passed while \(phase)")
    }

    /// Returns a body that arrives in the recorded pieces, and ends with an error if there is one.
    func body(_ data: Data, in pieces: [HAR.Piece], status: HTTPStatus, failure: HTTPError?) -> HTTPResponseBody {
        var rest = data[...]
        var recorded: [(delay: Double, data: Data)] = pieces.map { piece in
            defer { rest = rest.dropFirst(max(0, piece.bytes)) }
            return (piece.delay, Data(rest.prefix(max(0, piece.bytes))))
        }
        if !rest.isEmpty { recorded.append((0, Data(rest))) }
        let parts = recorded
        let next = Atomic(0)
        return HTTPResponseBody(length: nil) {
            let index = next.add(1, ordering: .relaxed).oldValue
            guard index < parts.count else {
                if let failure { throw failure }
                return nil
            }
            let isOpenEnded = request.isOpenEnded(after: status)
            try await pass(parts[index].delay, while: "receiving the body", isOpenEnded: isOpenEnded)
            return parts[index].data
        }
    }
}

extension HAR.Entry {
    /// Returns the recorded response, or throws the recorded error. An error of a streamed body is thrown by the body.
    fileprivate func result(of request: HTTPRequest, _ time: ReplayTime) throws(HTTPError) -> HTTPResponse {
        let error = failure.map { code in
            // With these codes, nothing was sent.
            let isUnsent = ["cannotConnect", "insecureConnection", "proxyRefused"].contains(code)
            return HTTPError(
                HTTPError.Code(rawValue: code), request: request, message: "as recorded",
                mayHaveBeenSent: !isUnsent)
        }
        let replayed = response.replayed(to: request, time, failure: error)
        guard let error, response.content?.pieces == nil else { return replayed }
        throw response.status >= 100 ? error.with(response: replayed) : error
    }
}

extension HAR.Response {
    /// Returns the recorded response, without the headers that describe an encoding, because an archive contains
    /// decoded bodies.
    fileprivate func replayed(to request: HTTPRequest, _ time: ReplayTime, failure: HTTPError?) -> HTTPResponse {
        var headers = (headers ?? []).headers
        let data = content?.data ?? Data()
        let isEncoded = headers.contains(.contentEncoding)
        for name in [HTTPHeaders.Name.contentEncoding, .transferEncoding] { headers[name] = nil }
        if headers.contains(.contentLength), !data.isEmpty {
            headers[.contentLength] = isEncoded ? nil : "\(data.count)"
        }
        // Other programs write the characters of a text in any charset.
        if let type = headers.type, type["charset"] != nil, content?.encoding == nil, content?.size != data.count {
            headers[.contentType] = type.setting("charset", to: "utf-8").description
        }
        let (status, isCut) = (HTTPStatus(status), content?.isTruncated == true)
        let isWhole = content?.pieces == nil && (!isCut || failure != nil)
        let end = isCut ? HTTPError(.connectionLost, request: request, message: "the recording ends here") : nil
        return HTTPResponse(
            request: request, status: status, headers: headers,
            body: isWhole
                ? HTTPResponseBody(data)
                : time.body(data, in: content?.pieces ?? [], status: status, failure: failure ?? end))
    }
}
