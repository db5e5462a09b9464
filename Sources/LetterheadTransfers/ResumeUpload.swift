// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// The store entry of an upload that is complete. The entry still holds its lock, so removing it opens no file.
final class CompleteUpload: Sendable {
    let entry = Mutex<UploadEntry?>(nil)
}

/// Sends the content in an upload that a later load can continue.
struct ResumeUpload: LoaderLink {
    let store: UploadStore
    let settings: UploadSettings
    let backoff: Backoff
    let held = CompleteUpload()

    /// Removes the entry of a complete upload from the store. Call it only when the whole call has succeeded. Until
    /// then, a reset makes the call fail, and the next call needs the entry.
    func removeComplete() { held.entry.withLock { $0.take() }?.forget() }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await backoff.loading(request) { request in
            let resource = try resource(of: request)
            let content = try await UploadContent(of: request, isHashed: settings.checksFile)
            let identity = identity(of: request, resource, content)
            let entry = try request.storing(isSent: false) { try store.entry(store.id(of: identity)) }
            var empty = request
            empty.body = EmptyBody()
            let exchange = UploadExchange(empty, over: next, total: content.length)
            let chunkSize = settings.chunkSize ?? (settings.checksChunks ? 8 << 20 : .max)
            let continuation = Continuation(
                of: exchange.request, backoff, "the upload continues", temporary: ResumedUpload.temporary)
            var upload = ResumedUpload(
                link: self, content: content, entry: entry, exchange: exchange, chunkSize: chunkSize,
                continuation: continuation)
            do { return try await upload.load() } catch let error as HTTPError where exchange.mayHaveSent {
                throw error.with(mayHaveBeenSent: true)
            }
        }
    }

    /// Returns what identifies the upload. It contains the origin, so an upload with a key never continues at a
    /// different origin.
    private func identity(of request: HTTPRequest, _ resource: String, _ content: UploadContent) -> String {
        guard settings.key == nil else { return "\(resource) \(request.withEnvironment.origin?.description ?? "")" }
        let metadata = settings.metadata.map { "upload-metadata:\($0)=\($1)" }
        let fields = request.headers.filter { !request.isSecret($0) }.map { ASCII.lowercased("\($0.name):") + $0.value }
        return ([request.method.rawValue, resource, content.identity] + (fields + metadata).sorted()).joined(
            separator: "\n")
    }

    /// Returns what identifies the target resource: the key in the settings, or the URL.
    private func resource(of request: HTTPRequest) throws(HTTPError) -> String {
        var marked = request
        marked.method = .post
        try request.validateEnvironment()
        let resource = (settings.key.map(DownloadResumption.fromPart(key:)) ?? .fromPart).identity(of: request)
        let rules = [
            (
                !marked.isIdempotent,
                "the template of an upload must not be marked as idempotent, because each chunk has its own offset"
            ),
            (!request.method.isSafe, "an upload can't be created with \(request.method) (use POST)"),
            (settings.chunkSize ?? 1 > 0, "chunkSize is less than 1"),
            (
                settings.metadata.keys.allSatisfy(UploadProtocol.isMetadataKey),
                "a key of metadata isn't visible ASCII without spaces and commas (tus 1.0, Upload-Metadata)"
            ),
            (
                settings.metadata.isEmpty || !request.headers.contains("Upload-Metadata"),
                "both metadata and the header Upload-Metadata are set (set only one of them)"
            ),
            (
                resource != nil,
                "the URL isn't known when the upload begins and can't identify it (set the key of UploadSettings)"
            ),
        ]
        guard let resource, rules.allSatisfy(\.0) else {
            throw HTTPError(.invalidRequest, request: request, message: rules.first { !$0.0 }?.1 ?? "")
        }
        return resource
    }
}

extension HTTPRequest {
    /// Runs work on a store entry, and turns its errors into errors of this request.
    func storing<Value>(isSent: Bool = true, _ work: () throws -> Value) throws(HTTPError) -> Value {
        try filing("the upload's entry in the store", .uploadInUse, .uploadStoreFailed, isSent: isSent, work)
    }
}

/// Loads an upload that may have begun in an earlier load.
private struct ResumedUpload {
    /// The statuses after which the client asks for the server offset and continues. 460 is the checksum mismatch of
    /// tus.
    static let temporary = Retry.Condition.standardStatuses.union([.conflict, .locked, 460])

    let link: ResumeUpload
    let content: UploadContent
    let entry: UploadEntry
    let exchange: UploadExchange
    var kind = UploadProtocol.tus
    var known: UnfinishedUpload?
    /// The server limits, by the names in `Upload-Limit`.
    var limits = [String: Int]()
    /// The largest chunk size to try. It shrinks after a 413.
    var chunkSize: Int
    /// How many bytes the server has, according to its last response.
    var offset = 0
    /// How many bytes the server can have at most.
    var sent = 0
    var continuedFrom = 0
    var restart: CompletedUpload.Restart?
    var continuation: Continuation

    mutating func load() async throws -> HTTPResponse {
        var response: HTTPResponse
        do { response = try await transferred() } catch let error as HTTPError where isForgotten(error) {
            // An upload is created again only once. Otherwise, a server that forgets each upload would receive the file
            // without end.
            (restart, known) = (.forgotten, nil)
            response = try await transferred()
        }
        if known != nil, response.status.isSuccess { link.held.entry.withLock { $0 = entry } } else { entry.forget() }
        if response.status.isSuccess { exchange.report(content.length) }
        response[option: CompletedUploadValue.self] = known.map {
            CompletedUpload(url: $0.url, continuedFrom: continuedFrom, restart: restart)
        }
        return response
    }

    /// Sends chunks until the upload is complete.
    mutating func transferred() async throws -> HTTPResponse {
        var last = try await begun()
        while true {
            if last.isUploadComplete == true {
                guard offset == content.length else { throw ended(last) }
                if known == nil { return last }
                // The final response was lost. The server may send it again.
                do {
                    let replayed = try await append(offset..<offset)
                    return replayed.isUploadComplete == true ? replayed : last
                } catch {
                    try checkFile()
                    return last
                }
            }
            if offset == content.length, !kind.isEndedByRequest {
                try checkFile()
                return last
            }
            let range = nextRange
            do {
                last = try await append(range)
                if last.isUploadComplete == true {
                    let told = last.headers.count(of: "Upload-Offset") ?? content.length
                    let isWhole = range.upperBound == content.length && told == content.length
                    guard isWhole || !last.status.isSuccess else { throw ended(last) }
                    return last
                }
                if last.status == .contentTooLarge, range.count > max(64 << 10, limits["min-append-size"] ?? 0) {
                    chunkSize = range.count / 4
                    continue
                }
                try accept(last, for: range)
            } catch let error as HTTPError {
                // The file may have changed, and the server may have bytes of both versions.
                try checkFile()
                last = try await retrying(after: error) { try await $0.queried() }
            }
        }
    }

    var nextRange: Range<Int> {
        let size = min(max(chunkSize, limits["min-append-size"] ?? 0), limits["max-append-size"] ?? .max)
        return offset..<(content.length - offset <= size ? content.length : offset + size)
    }
}

// MARK: Requests

extension ResumedUpload {
    /// Asks for the offset if an earlier load has begun the upload, or creates an upload.
    mutating func begun() async throws -> HTTPResponse {
        (offset, continuedFrom) = (0, 0)
        if restart == nil, let earlier = try exchange.request.storing({ try entry.upload() }),
            let kind = UploadProtocol.named(earlier.kind), kind.name.isSame(as: link.settings.kind?.name ?? kind.name)
        {
            self.kind = kind
            // The origin is known only after a first request. Without it, the template credentials would not be sent to
            // the upload URL, and a refusal would look like an upload that the server has forgotten.
            if exchange.request.withEnvironment.origin == nil {
                _ = try await retrying { try await $0.exchange.send(.options) }
            }
            let isLive = earlier.expires > link.store.now()
            if isLive, content.isSame(as: earlier) {
                (known, sent) = (earlier, content.length)
                let response = try await retrying { try await $0.queried() }
                continuedFrom = offset
                return response
            }
            restart = isLive ? .contentChanged : .expired
            // Deleting the earlier upload lets the server free its space. If the deletion fails, the upload expires
            // there. The entry stays until a new upload replaces it. A server must not choose what is deleted at a
            // different origin.
            if HTTPRequest(url: earlier.url).origin == exchange.request.withEnvironment.origin {
                _ = try? await exchange.send(.delete, to: earlier.url, kind.headers)
            }
            try Task.checkCancellation()
        }
        sent = 0
        if let kind = link.settings.kind {
            self.kind = kind
        } else {
            _ = try await retrying { try await $0.announced() }
        }
        return try await retrying { try await $0.created() }
    }

    /// Sends a request again after a wait, as long as its failure is temporary.
    mutating func retrying(
        after failure: HTTPError? = nil, _ work: (inout Self) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        var failure = failure
        while true {
            if let failure { try await link.backoff.pause(before: try continuation.retry(after: failure)) }
            do { return try await work(&self) } catch let error as HTTPError { failure = error }
        }
    }

    /// Asks which protocol the server supports.
    mutating func announced() async throws -> HTTPResponse {
        let response = try await exchange.send(.options, UploadProtocol.draft.headers)
        guard response.status.isSuccess || [404, 405, 501].contains(response.status.code) else {
            throw refusal(of: response)
        }
        guard let kind = UploadProtocol.all.first(where: { $0.isAnnounced(response.headers) }) else {
            throw failure(
                .uploadUnsupported,
                "the server announces neither tus 1.0.0 nor the IETF's uploads in interop version 8 (if it supports one of "
                    + "them nevertheless, set the kind of UploadSettings)", response)
        }
        let checksums = ASCII.members(of: response.headers.values(for: "Tus-Checksum-Algorithm"))
        if link.settings.checksChunks, !kind.isEndedByRequest, !checksums.contains(where: { $0.isSame(as: "sha256") }) {
            throw failure(
                .uploadUnsupported, "the server doesn't verify SHA-256 checksums (set checksChunks to false)", response)
        }
        self.kind = kind
        try remember(response)
        return response
    }

    mutating func created() async throws -> HTTPResponse {
        if !kind.isEndedByRequest, content.headers.contains(.contentEncoding) {
            throw failure(.uploadUnsupported, "tus can't transmit a Content-Encoding (send the content without one)")
        }
        if kind.isEndedByRequest, !link.settings.metadata.isEmpty {
            throw failure(
                .uploadUnsupported,
                "the IETF protocol can't transmit metadata (leave metadata empty, and set headers of the template)")
        }
        var headers = kind.headers
        kind.create(&headers, content, link.settings.metadata)
        let response = try await exchange.send(nil, headers)
        guard response.status.isSuccess else { throw refusal(of: response) }
        // The resource itself has responded without an upload. Only empty content is complete in this way.
        if kind.isEndedByRequest, response.isUploadComplete == true {
            guard content.length == 0 else {
                throw failure(
                    .uploadMismatch,
                    "the server completed the upload at its creation, so it may have processed an empty body",
                    response)
            }
            return response
        }
        let isConfirmed = kind.isConfirmed(response.headers)
        guard isConfirmed != false else { throw unconfirmed(response) }
        guard let url = response.location else {
            throw failure(.uploadUnsupported, "the response to the creation has no valid Location", response)
        }
        // This check comes before the URL is stored. Otherwise, each later call would fail as well.
        let moved = try exchange.moved(
            exchange.request, to: url, with: content.body(0..<content.length), namedBy: response.request)
        // If a redirect to a different origin has removed the credentials, they aren't sent again, and a later call
        // couldn't know that they were removed.
        let isRedirected = !response.request.removedHeaders.isEmpty
        if isRedirected, moved.origin == exchange.request.withEnvironment.origin {
            throw failure(
                .uploadUnsupported,
                "the creation was redirected to a different origin, which returned a URL at the first origin", response)
        }
        let confirmation = isConfirmed == nil ? try await confirmed(at: url) : response
        known = UnfinishedUpload(
            id: entry.file.lastPathComponent, key: link.settings.key, url: url, fileName: content.name,
            byteCount: content.length, created: link.store.now(), expires: .distantPast, kind: kind.name,
            origin: exchange.request.withEnvironment.origin?.description, modified: content.modified,
            digest: content.digest, start: content.start)
        try remember(response)
        try remember(confirmation)
        return response
    }

    /// Asks whether the URL in the creation response belongs to a new upload.
    mutating func confirmed(at url: URL) async throws -> HTTPResponse {
        let response = try await retrying { upload in
            let response = try await upload.asked(at: url)
            if Self.temporary.contains(response.status) { throw upload.refusal(of: response) }
            return response
        }
        let isNew = response.status.isSuccess && response.headers.count(of: "Upload-Offset") == 0
        guard isNew, kind.isConfirmed(response.headers) == true else { throw unconfirmed(response) }
        return response
    }

    mutating func append(_ range: Range<Int>) async throws -> HTTPResponse {
        try checkFile()
        var headers = kind.headers
        let digest = link.settings.checksChunks && !range.isEmpty ? try await content.digest(of: range) : nil
        kind.append(&headers, range, range.upperBound == content.length, digest)
        headers[.contentType] = kind.contentType.description
        // With this field, a server that refuses the chunk can do so before the chunk is sent.
        if !continuation.attempts.isEmpty, !range.isEmpty { headers[.expect] = "100-continue" }
        sent = max(sent, range.upperBound)
        let response = try await exchange.send(
            .patch, to: known?.url, headers, body: content.body(range), covering: range)
        try checkFile()
        return response
    }

    func asked(at url: URL?) async throws(HTTPError) -> HTTPResponse {
        var headers = kind.headers
        headers[.cacheControl] = "no-store"
        return try await exchange.send(.head, to: url, headers)
    }

    mutating func queried() async throws -> HTTPResponse {
        let response = try await asked(at: known?.url)
        // A response from a proxy or a sign-in page tells nothing about the upload.
        guard response.status.isSuccess, response.headers.contains("Upload-Offset") else {
            throw refusal(of: response)
        }
        guard let new = response.headers.count(of: "Upload-Offset") else {
            throw failure(.uploadMismatch, "the response has no valid Upload-Offset", response)
        }
        if let other = response.headers.count(of: "Upload-Length"), other != content.length {
            throw failure(
                .uploadMismatch, "the server expects \(other) bytes, and the content has \(content.length)", response)
        }
        try advance(to: new, response)
        return response
    }
}

// MARK: Checks

extension ResumedUpload {
    /// Reads the offset from the response to a chunk. If there is no offset, only `Upload-Complete` confirms all bytes:
    /// a redirect or a proxy can lead to any other response.
    mutating func accept(_ response: HTTPResponse, for range: Range<Int>) throws {
        let told = response.headers.count(of: "Upload-Offset")
        let isConfirmed = response.isUploadComplete == false && !response.headers.contains("Upload-Offset")
        guard response.status.isSuccess, let new = told ?? (isConfirmed ? range.upperBound : nil),
            new != range.lowerBound
        else { throw refusal(of: response) }
        try advance(to: new, response)
        // Without this limit, a server could have the file requested byte by byte.
        if new < range.upperBound, new - range.lowerBound < Continuation.enoughBytes { throw refusal(of: response) }
    }

    mutating func advance(to new: Int, _ response: HTTPResponse) throws {
        guard (offset...max(offset, sent)).contains(new) else {
            let before = "although it had confirmed \(offset) before and \(sent) were sent"
            throw failure(.uploadMismatch, "the server confirms \(new) bytes, \(before)", response)
        }
        continuation.advance(by: new - offset)
        offset = new
        exchange.report(new)
        try remember(response)
    }

    /// Checks the limits in a response, and stores the time at which the upload expires.
    mutating func remember(_ response: HTTPResponse) throws {
        let new = response.uploadLimits
        limits.merge(new) { $1 }
        if content.length > limits["max-size"] ?? .max || content.length < limits["min-size"] ?? 0 {
            let range = "\(limits["min-size"] ?? 0) to \(limits["max-size"].map { "\($0)" } ?? "any number of")"
            throw failure(.uploadUnsupported, "the server accepts only uploads of \(range) bytes", response)
        }
        if let most = limits["max-append-size"], most < min(1024, content.length) {
            throw failure(
                .uploadUnsupported,
                "the server accepts at most \(most) bytes in a request, which is too few for an upload", response)
        }
        guard var upload = known else { return }
        let latest = upload.created.addingTimeInterval(link.store.maximumAge / .seconds(1))
        // The device clock may be wrong, so the time until the expiry is calculated from the server date.
        let now = link.store.now()
        let age =
            response.headers.date(of: "Upload-Expires")?.timeIntervalSince(response.headers.date(of: .date) ?? now)
            ?? new["max-age"].map { Double($0) }
        let told = age.map(now.addingTimeInterval)
        let expires = min(latest, told ?? (upload.expires == .distantPast ? latest : upload.expires))
        // A difference of less than a minute isn't stored, because writing a file for each chunk would cost more than
        // it saves.
        guard abs(expires.timeIntervalSince(upload.expires)) > 60 else { return }
        upload.expires = expires
        known = upload
        try exchange.request.storing { try entry.write(upload) }
    }

    /// Whether the server no longer has the upload. A 404 to a complete upload comes from the resource itself, and
    /// isn't thrown.
    func isForgotten(_ error: HTTPError) -> Bool {
        guard known != nil, let response = error.response else { return false }
        let statuses: HTTPStatusSet = response.request.method == .head ? UploadProtocol.forgotten : [.notFound, .gone]
        return statuses.contains(response.status)
    }

    func checkFile() throws(HTTPError) {
        guard !content.isUnchanged else { return }
        if var upload = known {
            // No file has this modification time. The next load therefore starts a new upload, even if the file is
            // restored.
            upload.modified = -1
            try exchange.request.storing { try entry.write(upload) }
        }
        throw failure(.uploadFileChanged, "the file changed while it was being uploaded (send it again)")
    }

    /// Creates the error for an upload that can't be continued, and removes the entry of the upload, so that the next load
    /// starts a new one. There are two exceptions:
    ///
    /// - If the file has changed, the entry stays, because ``checkFile()`` has already marked it.
    /// - If creating a new upload has failed, the earlier entry stays.
    func failure(_ code: HTTPError.Code, _ message: String, _ response: HTTPResponse? = nil) -> HTTPError {
        if code != .uploadFileChanged, known != nil { entry.forget() }
        return response?.error(code, message) ?? HTTPError(code, request: exchange.request, message: message)
    }

    func unconfirmed(_ response: HTTPResponse) -> HTTPError {
        let remedy =
            link.settings.kind == nil
            ? "if it supports the other protocol, set the kind of UploadSettings"
            : "don't set the kind of UploadSettings, so that the client asks which protocol it supports"
        return failure(
            .uploadUnsupported,
            "the response to \(response.request.method) doesn't confirm a new upload with \(kind.confirmation), so the "
                + "server doesn't support the protocol \(kind.name) here, and nothing of the content was sent (\(remedy))",
            response)
    }

    func ended(_ response: HTTPResponse) -> HTTPError {
        failure(.uploadMismatch, "the server ended the upload before it had all \(content.length) bytes", response)
    }

    func refusal(of response: HTTPResponse) -> HTTPError {
        response.status.isSuccess
            ? response.error(
                .invalidResponse, "the server reports success, but has confirmed too few bytes of the upload, or none")
            : HTTPError(.unacceptableStatus, request: response.request, response: response)
    }
}
