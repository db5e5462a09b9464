// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Writes a download to a part file, which a later load can continue.
struct ResumeDownload: LoaderLink {
    let resumption: DownloadResumption
    let digest: ContentDigest?
    let backoff: Backoff

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard case .file(let place) = request.responseDelivery else { return try await next.load(request) }
        if let rule = brokenRule(for: request) { throw HTTPError(.invalidRequest, request: request, message: rule) }
        return try await backoff.loading(request) { request in
            let source = BodySource(request, over: next, backoff: backoff)
            return try await ResumedDownload(link: self, request: request, source: source, place: place).load()
        }
    }

    private func brokenRule(for request: HTTPRequest) -> String? {
        if request.method != .get || !request.body.isEmpty { return "only a GET without a body can be resumed" }
        if request.headers.contains(.range) {
            return "a resumed download sets the header Range itself (remove it from the template)"
        }
        return digest?.isMalformed == true
            ? "the expected SHA-256 digest must have 64 hexadecimal digits or 44 characters of Base64" : nil
    }
}

/// Loads a download that may have begun in an earlier load.
private struct ResumedDownload {
    let link: ResumeDownload
    let request: HTTPRequest
    let source: BodySource
    let place: URL

    func load() async throws -> HTTPResponse {
        let resource = link.resumption.identity(of: request)
        let remains = try filing { try PartFile.remains(beside: place, of: resource) }
        if let remains { return try await continued(remains, of: resource) }
        return try await fresh(try await loaded())
    }

    /// Requests the whole body, or a range of it. Retries as the back-off allows.
    private func loaded(_ range: String? = nil, if validator: String = "") async throws -> HTTPResponse {
        var continuation = Continuation(of: request, link.backoff, "the download continues")
        while true {
            var response: HTTPResponse?
            let failure: HTTPError
            do throws(HTTPError) {
                let loaded = try await source.load(range, if: validator)
                guard Retry.Condition.standardStatuses.contains(loaded.status), !request.accepts(loaded.status)
                else { return loaded }
                (response, failure) = (loaded, loaded.error(.unacceptableStatus, ""))
            } catch { failure = error }
            let retry: Retry.Context
            do throws(HTTPError) { retry = try continuation.retry(after: failure) } catch {
                response?.attempts = error.attempts
                if let response { return response }
                throw error
            }
            await response?.body.discard()
            try await link.backoff.pause(before: retry)
        }
    }

    /// Runs work on the part file. It is called only when a response has arrived, so that a download that waits for a
    /// throttle holds no file open.
    private func filing<Value>(_ response: HTTPResponse? = nil, _ work: () throws -> Value) throws(HTTPError) -> Value {
        try request.filing(
            "the part of \(place.lastPathComponent)", .partInUse, .cannotSaveResponse, response,
            isSent: response != nil, work)
    }

    /// Continues the part that an earlier load has left behind.
    private func continued(_ remains: PartFile.Remains, of resource: String?) async throws -> HTTPResponse {
        let record = remains.record
        // If the part is complete, its last byte is requested again, because only a 206 shows whether the part is still
        // current.
        let position = min(remains.count, record.length - 1)
        let response = try await loaded("bytes=\(position)-", if: record.validator)
        let whole = BodyPart(
            validator: record.validator, range: 0..<record.length, completeLength: record.length,
            place: BodyPart.place(of: response))
        guard record.isAt(whole.place), whole.fault(of: response, from: position) == nil,
            let part = try filing(response, { try unchangedPart(remains, of: resource) })
        else { return try await restarted(by: response) }
        try filing(response) { try part.shorten(to: position) }
        return try await saved(response, in: part, as: whole, at: position)
    }

    /// Opens the part. Returns nil if a different download has changed it since its remains were read.
    private func unchangedPart(_ remains: PartFile.Remains, of resource: String?) throws -> PartFile? {
        let part = try PartFile(beside: place)
        return try part.remains(of: resource) == remains ? part : nil
    }

    /// Starts again, because a response doesn't continue the part. If the response has the whole body, that body is
    /// used. Otherwise, one more request is sent.
    private func restarted(by response: HTTPResponse, in part: PartFile? = nil) async throws -> HTTPResponse {
        guard response.status == .partialContent || response.status == .rangeNotSatisfiable else {
            return try await fresh(response, in: part)
        }
        await response.body.discard()
        return try await fresh(try await loaded(), in: part)
    }

    /// Writes the whole body to the part. If the status isn't accepted, returns the response without saving it, and the
    /// part stays.
    ///
    /// - Parameter open: the part file that this call has already written to. Default: nil (opens the part file).
    private func fresh(_ response: HTTPResponse, in open: PartFile? = nil) async throws -> HTTPResponse {
        guard request.accepts(response.status), response.status != .notModified else {
            return try await response.delivered(to: request)
        }
        guard response.status != .partialContent else {
            throw response.error(
                .invalidResponse, "the server sent a part of the file, although the whole file was requested")
        }
        let known = BodyPart(response).flatMap { whole in
            link.resumption.identity(of: request).map { PartRecord(whole, of: $0, isByURL: link.resumption.isByURL) }
        }
        let part = try open ?? filing(response) { try PartFile(beside: place) }
        try filing(response) { try part.restart(known) }
        // A call starts again only once. Without this limit, a server that ignores ranges could send the same bytes
        // without end.
        return try await saved(response, in: part, restarts: open == nil)
    }

    /// Writes the body to the part, and completes the part.
    private func saved(
        _ response: HTTPResponse, in part: PartFile, as whole: BodyPart? = nil, at position: Int = 0,
        restarts: Bool = true
    ) async throws -> HTTPResponse {
        let limit = request.responseLimit
        let tooLarge = response.error(
            .responseTooLarge, "the file is larger than \(limit) bytes (to allow more, raise responseLimit)")
        if let length = whole?.completeLength ?? response.body.length, length > limit { throw tooLarge }
        let body = ContinuedBody(response, as: whole, at: position, from: source, isReplaceable: restarts)
        var left = limit - position
        do {
            for try await piece in body.body(length: nil) {
                left -= piece.count
                guard left >= 0 else { throw tooLarge }
                try filing(response) { try part.append(piece) }
            }
        } catch let replaced as ContinuedBody.Replaced {
            return try await restarted(by: replaced.response, in: part)
        }
        return try await completed(response, part)
    }

    /// Checks the digest, and hands the part file over to the response, which moves it to its destination.
    private func completed(_ response: HTTPResponse, _ part: PartFile) async throws -> HTTPResponse {
        var complete = response.withoutBody
        try await checkDigest(of: complete, in: part)
        let count = try filing(complete) { try part.count() }
        if response.status == .partialContent {
            // All parts together are a complete 200 (RFC 9110, 15.3.7.3).
            complete.status = .ok
            complete.headers[.contentRange] = nil
            complete.headers[.contentLength] = "\(count)"
        }
        try filing(complete) { try part.finish() }
        complete.setSavedFile(part.url, byteCount: count, for: place) { [part] in part.close() }
        return complete
    }

    private func checkDigest(of response: HTTPResponse, in part: PartFile) async throws {
        let expected = [link.digest, ContentDigest.reported(by: response)].compactMap(\.self)
        guard !expected.isEmpty else { return }
        let hash = try await FileBody(at: part.url).sha256()
        if expected.allSatisfy({ $0.matches(hash) }) { return }
        part.discard()
        throw response.error(
            .digestMismatch,
            "the download was removed, because its SHA-256 digest \(hexadecimal(hash)) is not the expected one")
    }
}
