// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Determines how `HTTPClient.upload(_:from:resuming:_:continuing:)` sends a file or bytes.
public struct UploadSettings: Sendable {
    /// Identifies the upload in the store. Default: nil (the method, the URL with its query, the template headers that
    /// aren't secret, the metadata, and the file path or the digest over bytes in memory).
    ///
    /// Set a key, such as `"video-3"`, if any of these changes between launches. Examples are a signed URL, a path
    /// inside an app container on iOS, and a client with a closure that provides its environment. With such a closure,
    /// a call that continues an upload first sends OPTIONS to the template URL, to check that its origin is the origin
    /// of the upload.
    ///
    /// The same key at a different origin is a different upload, but several endpoints at one origin need different
    /// keys.
    public var key: String?
    /// The protocol that the server supports. If an upload was begun with a different protocol, the call starts a new
    /// one. Default: nil (the client asks the server with OPTIONS).
    public var kind: UploadProtocol?
    /// Describes the content to a tus server, for its hooks and its files: `["filetype": "video/mp4"]`. Default: empty.
    ///
    /// The client adds `filename` and `filetype` if the content has a name or a media type, unless you set them here.
    /// Some servers refuse an upload without a type.
    ///
    /// The IETF protocol has no metadata, so an upload with metadata fails with `.uploadUnsupported`. Set
    /// `Content-Disposition` in the template instead, and a media type in the content.
    public var metadata: [String: String] = [:]
    /// The largest number of bytes in one request. Limits that the server announces apply in any case. Default: nil
    /// (all remaining bytes, or 8 MiB with ``checksChunks``).
    ///
    /// A transport over `URLSession` first copies each request body to a private file. Set a size for such a transport,
    /// so that it doesn't copy the whole rest again after a lost connection.
    public var chunkSize: Int?
    /// Whether each request contains a SHA-256 digest over its chunk: `Upload-Checksum` in tus, or `Content-Digest`
    /// (RFC 9530, 2). Default: false.
    ///
    /// With it, the client reads each chunk twice, and a tus server discards an incomplete chunk. If ``kind`` is
    /// `.tus`, the call doesn't check whether the server supports SHA-256.
    public var checksChunks = false
    /// Whether the call begins by calculating a SHA-256 digest over the file. Default: false.
    ///
    /// The digest identifies the file in addition to its size and its modification time. In the IETF protocol, the
    /// client also sends it as `Repr-Digest` (RFC 9530, 3). For bytes in memory, a digest is always calculated.
    public var checksFile = false

    /// Creates settings with the defaults.
    public init() {}
}

/// Describes how an upload went: where it is, and whether it was continued. `HTTPResponse.upload` contains it.
public struct CompletedUpload: Sendable, Hashable {
    /// Why an earlier upload was not continued.
    public enum Restart: String, Sendable {
        /// The file, or the bytes with the same key, have changed since the earlier upload began.
        case contentChanged
        /// The server no longer has the earlier upload.
        case forgotten
        /// The upload has passed the date that the server set, or the maximum age in the store.
        case expired
    }

    /// The upload URL. A tus server keeps the content there.
    public let url: URL
    /// How many bytes the server already had when the call began. 0 for a new upload.
    public let continuedFrom: Int
    /// Why an earlier upload was not continued. Nil if there was none, or if it was continued.
    public let restart: Restart?
}

enum CompletedUploadValue: HTTPRequestOption {
    static let defaultOptionValue: CompletedUpload? = nil
}

extension HTTPResponse {
    /// Where the upload is and whether it was continued, or nil if this response doesn't complete an upload.
    public var upload: CompletedUpload? { self[option: CompletedUploadValue.self] }
}

extension HTTPClient {
    /// Sends a file or bytes, and continues an interrupted upload, even after the program has restarted.
    ///
    /// ```swift
    /// let response = try await client.upload(AddVideo(), from: FileBody(at: file), resuming: store)
    /// let note = DataBody(text, contentType: "text/plain")
    /// try await client.upload(AddNote(), from: note, resuming: store)
    /// ```
    ///
    /// The server must support tus 1.0 or resumable uploads as defined by the IETF.
    ///
    /// 1. The call creates an upload at the server, and remembers its URL in the store.
    /// 2. It sends the content with PATCH.
    /// 3. After a lost connection, it asks for the server offset with HEAD and continues there. No byte that the server
    ///    has accepted is sent again.
    /// 4. If the upload fails or is cancelled, the next call with the same content continues it.
    ///
    /// If the content has changed, or the upload has expired, the call starts a new upload. It also does so if the
    /// server has forgotten the upload, but only once. `HTTPResponse.upload` tells which of these happened.
    ///
    /// Each request passes through the links of the client, so credentials can be renewed in the middle. The retry
    /// settings of the client don't apply to PATCH: `backoff` determines how often and how long the call tries. A
    /// deadline includes the whole call, and a timeout applies to each request. The progress counts content bytes and
    /// never decreases.
    ///
    /// - Parameters:
    ///   - template: the request that creates the upload, without a body: a POST for tus. Its headers are sent with all
    ///     requests, except for headers about the content. A header `Upload-Metadata` replaces the name and the media
    ///     type that tus receives. If the server names a URL at a different origin, the redirect policy applies, and
    ///     secrets and credentials aren't sent there.
    ///   - content: a `FileBody`, or any body in memory, such as a `DataBody`. Its media type describes the upload. A
    ///     file must not change during the upload.
    ///   - store: remembers the upload.
    ///   - settings: the protocol, the request size, and digests.
    ///   - backoff: when and how often the call tries again. Default: as for ``ContinueBodies``.
    /// - Returns: the last response. In the IETF protocol, the resource that the template addresses has sent it.
    /// - Throws: `.uploadInUse` if a different task or process sends the same upload, `.uploadUnsupported`,
    ///   `.uploadFileChanged`, `.uploadMismatch`, `.uploadStoreFailed`, and the errors of `send(_:)`.
    @discardableResult
    public func upload<Template: RequestTemplate>(
        _ template: Template, from content: some HTTPBody, resuming store: UploadStore,
        _ settings: UploadSettings = UploadSettings(), continuing backoff: Backoff = Backoff()
    ) async throws -> HTTPResponse {
        let creation = try StandardRequestBuilder(template).request()
        guard creation.body.isEmpty else {
            let rule = "the template of an upload must not have a body (pass the content as an argument)"
            throw HTTPError(.invalidRequest, request: creation, message: rule)
        }
        let link = ResumeUpload(store: store, settings: settings, backoff: backoff)
        let response = try await addingLink(link).stream(template.body(content))
        link.removeComplete()
        return response
    }

    /// Deletes an unfinished upload at the server, and removes it from the store.
    ///
    /// If the server has forgotten the upload or doesn't delete uploads (404, 405, 410 or 501), the upload is only
    /// removed from the store. After a 400 or 403, the client asks with HEAD whether the server still has the upload.
    /// If the server doesn't let you delete an upload, use ``UploadStore/remove(_:)``.
    ///
    /// If the store has an entry and the URL is at the origin where the upload was created, the requests have the
    /// credentials and headers of the client, but not the template headers. In all other cases, they have neither
    /// credentials nor secret headers.
    ///
    /// - Throws: `.uploadInUse` if a task or process is sending the upload, and the errors of `send(_:)`. In both
    ///   cases, the store keeps the upload.
    public func cancel(_ upload: UnfinishedUpload, in store: UploadStore) async throws {
        var request = HTTPRequest(method: .delete, url: upload.url)
        request.headers = UploadProtocol.named(upload.kind)?.headers ?? [:]
        request.acceptedStatuses = HTTPStatusSet.success.union([.notFound, .gone, .methodNotAllowed, .notImplemented])
        let entry = try request.storing(isSent: false) { try store.entry(upload.id) }
        let current = try request.storing { try entry.upload() }
        // A server has chosen the URL, so nothing is added to it. The origin in the argument isn't trusted, because a
        // program may have decoded the value.
        let isForeign = current?.origin == nil || request.origin?.description != current?.origin
        request.removedHeaders = isForeign ? RedirectPolicy.standardWithheldHeaders : []
        request.userInfo = nil
        do { try await send(request) } catch let error as HTTPError {
            guard [.badRequest, .forbidden].contains(error.response?.status) else { throw error }
            request.method = .head
            request.headers[.cacheControl] = "no-store"
            request.acceptedStatuses = UploadProtocol.forgotten
            guard (try? await send(request)) != nil else { throw error }
        }
        // In the meantime, a newer upload of the file may have replaced this one.
        if current?.url == upload.url { entry.forget() }
    }
}

extension HTTPError.Code {
    /// A different task or process is sending the same upload.
    public static let uploadInUse = Self(rawValue: "uploadInUse")
    /// The upload can't be sent in this way, and nothing of the content was sent.
    ///
    /// The server announces no protocol for uploads that continue, or it refuses this content, or it names a URL that
    /// can't be used.
    public static let uploadUnsupported = Self(rawValue: "uploadUnsupported")
    /// The file changed while it was being uploaded. The next call starts a new upload.
    public static let uploadFileChanged = Self(rawValue: "uploadFileChanged")
    /// The server and the client disagree about the upload. The offset or the length that the server reports
    /// contradicts what was sent, or the server has completed the upload before it had all bytes. The next call starts
    /// a new upload.
    public static let uploadMismatch = Self(rawValue: "uploadMismatch")
    /// The upload store could not read or write its files.
    public static let uploadStoreFailed = Self(rawValue: "uploadStoreFailed")
}
