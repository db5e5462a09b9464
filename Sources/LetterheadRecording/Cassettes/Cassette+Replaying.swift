// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

extension Cassette {
    /// Returns the response of the first unused entry that matches, or nil if no entry can be replayed.
    ///
    /// If all matching entries are used and `repeatsEntries` is set, the last one responds.
    func replay(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse? {
        guard replays else { return nil }
        if request.host != nil {
            try request.validate()
            if request.body.isReplayable { _ = try request.framedBody() }
            if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        }
        guard let entry = claim(await key(of: request)) else { return nil }
        if let gap = entry.gap {
            let line = "\(request.method) \(request.redaction.outline(of: request))"
            throw refused(request, "the response to \(line) cannot be replayed: \(gap)")
        }
        let time = ReplayTime(request: request, clock: clock, timeline: timeline, start: timeline.now)
        return try await request.withHTTPErrors {
            try await time.pass(entry._wait ?? 0, while: "waiting for the response")
            return try entry.result(of: request, time)
        }.delivered(to: request)
    }

    private func key(of request: HTTPRequest) async -> CassetteKey {
        CassetteKey(await archived(request), matching, ignoring: paths, redaction)
    }

    /// Returns the error for a request without an entry. It names the nearest entry and the differences.
    func mismatch(of request: HTTPRequest) async -> HTTPError {
        let key = await key(of: request)
        let used = state.withLock { $0.used }
        let found = recorded.enumerated().map { ($0, key.differences(from: $1.key)) }
        var message = "the cassette \(file.lastPathComponent) has no entry for \(request.method) "
        message += request.redaction.outline(of: request)
        if let (index, differences) = found.min(by: { $0.1.weight < $1.1.weight }) {
            let isUsed = differences.texts.isEmpty && used.contains(index)
            let texts = isUsed ? ["it was already replayed (to allow this, set repeatsEntries)"] : differences.texts
            message += ", and the nearest is entry \(index + 1): \(texts.joined(separator: "; "))"
        } else {
            message += records ? ": record it with the link of the cassette" : ": it is empty"
        }
        if isFlight {
            message += "; a flight has only the failed request, those that ran beside it, and "
            message += "earlier ones with the same trace or X-Correlation-ID"
        }
        return refused(request, message)
    }

    /// Creates the error for a request, and stores its message for ``verify()``, which throws it as well.
    private func refused(_ request: HTTPRequest, _ message: String) -> HTTPError {
        state.withLock { if $0.refused.count < 20 { $0.refused.append(message) } }
        return HTTPError(.unexpectedRequest, request: request, message: message, mayHaveBeenSent: false)
    }

    private func claim(_ key: CassetteKey) -> HAR.Entry? {
        state.withLock { state in
            let fitting = recorded.indices.filter { index in
                let entry = recorded[index].entry
                guard entry.response.status >= 100 || entry._failure != nil else { return false }
                // If a flight recorder has not kept the body, it isn't compared.
                var key = key
                if entry.request.postData?._dropped == true { key.body = recorded[index].key.body }
                return recorded[index].key == key
            }
            let free =
                fitting.first { !state.used.contains($0) } ?? (matching.repeatsEntries ? fitting.last : nil)
            if let free { state.used.insert(free) }
            return free.map { recorded[$0].entry }
        }
    }
}

/// Waits on a clock as long as the recorded exchange did, unless a time limit of the request passes first.
struct ReplayTime: Sendable {
    let request: HTTPRequest
    let clock: any Clock<Duration>
    let timeline: Timeline
    let start: Duration

    /// Waits for a recorded time. If a time limit of the request passes first, it throws an error.
    ///
    /// - Parameter milliseconds: the recorded wait. A file may contain any number.
    func pass(_ milliseconds: Double, while phase: String, isOpenEnded: Bool = false) async throws {
        let wait = Duration(limiting: milliseconds / 1_000)
        let attempt = isOpenEnded ? .never : request.timeout.map { $0 - (timeline.now - start) } ?? .never
        let idle = request.idleTimeout ?? .never
        let first = [
            (left: request.timeLeft ?? .never, error: request.deadlinePassed(while: phase)),
            (attempt, HTTPError(.timedOut, request: request, message: "the attempt timeout passed while \(phase)")),
            (idle, HTTPError(.timedOut, request: request, message: "the idle timeout passed while \(phase)")),
        ].min { $0.left < $1.left }
        let left = min(first?.left ?? .never, wait)
        if left > .zero { try await clock.pause(for: left) }
        if let first, first.left <= .zero || first.left < wait { throw first.error }
    }

    /// Returns a body that arrives in the recorded pieces. If the recording has an error, the body ends with it.
    func body(_ data: Data, in pieces: [HAR.Piece], status: HTTPStatus, failure: HTTPError?) -> HTTPResponseBody {
        var rest = data[...]
        let parts = (pieces + [HAR.Piece(bytes: data.count, delay: 0)]).map { piece in
            defer { rest = rest.dropFirst(max(0, piece.bytes)) }
            return (delay: piece.delay, data: Data(rest.prefix(max(0, piece.bytes))))
        }.filter { !$0.data.isEmpty }
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
    /// Returns the recorded response, or throws the recorded error. If the error occurred in a streamed body, that body
    /// throws it.
    fileprivate func result(of request: HTTPRequest, _ time: ReplayTime) throws(HTTPError) -> HTTPResponse {
        let (pieces, isCut) = (response.content?._pieces, response.content?._truncated == true)
        let error = _failure.map { code in
            // These error codes mean that nothing was sent.
            let isUnsent = ["cannotConnect", "insecureConnection", "proxyRefused"].contains(code)
            return HTTPError(
                HTTPError.Code(rawValue: code), request: request, message: "as recorded", mayHaveBeenSent: !isUnsent)
        }
        var replayed = response.replayed(to: request)
        if pieces != nil || isCut && error == nil {
            let end = isCut ? HTTPError(.connectionLost, request: request, message: "the recording ends here") : nil
            replayed.body = time.body(
                response.content?.data ?? Data(), in: pieces ?? [], status: replayed.status, failure: error ?? end)
        }
        guard let error, pieces == nil else { return replayed }
        throw response.status >= 100 ? error.with(response: replayed) : error
    }
}

extension HAR.Response {
    /// Returns the recorded response. An archive contains decoded bodies, so the headers that describe an encoding are
    /// removed.
    func replayed(to request: HTTPRequest) -> HTTPResponse {
        var headers = (headers ?? []).headers
        let data = content?.data ?? Data()
        let isEncoded = headers.contains(.contentEncoding)
        for name in [HTTPHeaders.Name.contentEncoding, .transferEncoding] { headers[name] = nil }
        if headers.contains(.contentLength), !data.isEmpty {
            headers[.contentLength] = isEncoded ? nil : "\(data.count)"
        }
        // Other programs store the text as characters. Here its bytes become UTF-8, even if the server sent a different
        // charset.
        if let type = headers.type, type["charset"] != nil, content?.encoding == nil, content?.size != data.count {
            headers[.contentType] = type.setting("charset", to: "utf-8").description
        }
        return HTTPResponse(
            request: request, status: HTTPStatus(status), headers: headers, body: HTTPResponseBody(data))
    }
}
