// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Determines how `HTTPClient.upload(_:from:resuming:_:continuing:)` sends a file or bytes.
public struct UploadSettings: Sendable {
    /// What identifies the upload in the store. Default: nil (the method, the URL with its query, the template's
    /// headers that aren't secret, the metadata, and the file's path or the digest of bytes in memory).
    ///
    /// Set a key, such as `"video-3"`, if any of these changes between launches: for a signed URL, for an app's
    /// container on iOS, or if a closure provides the client's environment. In the last case, a call that continues an
    /// upload first sends OPTIONS to the template's URL, to compare its origin with the origin of the upload. The same
    /// key at another origin is another upload, but endpoints of one server need different keys.
    public var key: String?
    /// The server's protocol. An upload with another one isn't continued. Default: nil (the client asks with OPTIONS).
    public var kind: UploadProtocol?
    /// What a tus server learns about the content, for its hooks and its files: `["filetype": "video/mp4"]`. The client
    /// adds `filename` and `filetype` from the content if it has a name or a media type, unless you set them here. Some
    /// servers refuse an upload without a type. In the IETF's protocol, metadata is `.uploadUnsupported`: set
    /// `Content-Disposition` in the template, and the media type of the content. Default: empty.
    public var metadata: [String: String] = [:]
    /// The largest number of bytes in one request. The server's limits are observed in any case. Default: nil (all
    /// remaining bytes, or 8 MiB with ``checksChunks``).
    ///
    /// A transport over `URLSession` copies each request's bytes to a private file first. Set a size there, so that a
    /// lost connection doesn't cost a copy of the whole rest.
    public var chunkSize: Int?
    /// Sends a SHA-256 digest of each request's content: tus's `Upload-Checksum` or `Content-Digest` (RFC 9530, 2). The
    /// client reads each chunk twice. A tus server discards an incomplete chunk then. If ``kind`` is `.tus`, the call
    /// doesn't check that the server supports SHA-256. Default: false.
    public var checksChunks = false
    /// Calculates the file's SHA-256 digest when the call begins. It identifies the file in addition to its size and
    /// its modification time, and the client sends it as `Repr-Digest` (RFC 9530, 3) in the IETF's protocol. Bytes in
    /// memory are always identified so. Default: false.
    public var checksFile = false

    public init() {}
}

/// What happened in an upload. You get it from `HTTPResponse.upload`.
public struct CompletedUpload: Sendable, Hashable {
    /// Why an earlier upload was not continued.
    public enum Restart: String, Sendable {
        /// The file, or the bytes with the same key, have changed since the earlier upload began.
        case contentChanged
        /// The server no longer has the earlier upload.
        case forgotten
        /// The server's date or the store's maximum age has passed.
        case expired
    }

    /// The upload's URL. A tus server keeps the content there.
    public let url: URL
    /// How many bytes the server had when the call began.
    public let continuedFrom: Int
    /// nil if there was no earlier upload, or it was continued.
    public let restart: Restart?
}

enum CompletedUploadValue: HTTPRequestOption {
    static let defaultOptionValue: CompletedUpload? = nil
}

extension HTTPResponse {
    /// The upload that this response completes, or nil.
    public var upload: CompletedUpload? { self[option: CompletedUploadValue.self] }
}

extension HTTPClient {
    /// Sends a file or bytes, and continues an upload that was interrupted, even if the program has ended in between.
    /// The server must support tus 1.0 or the IETF's resumable uploads.
    ///
    /// ```swift
    /// let response = try await client.upload(AddVideo(), from: FileBody(at: file), resuming: store)
    /// let note = DataBody(text, contentType: "text/plain")
    /// try await client.upload(AddNote(), from: note, resuming: store)
    /// ```
    ///
    /// The call creates an upload at the server, remembers its URL in the store, and sends the content with PATCH.
    /// After each lost connection, it asks for the server's offset with HEAD and continues there, so no byte that the
    /// server has accepted is sent again. If the upload fails or is cancelled, the next call continues it.
    ///
    /// Content that has changed is a new upload. An upload that has expired starts again, and so does one that the
    /// server has forgotten, but only once. `HTTPResponse.upload` tells which.
    ///
    /// Each request passes through the client's links, so credentials can be renewed in the middle. The client's retry
    /// settings don't apply to PATCH: `backoff` determines how often and how long the call tries. A deadline includes
    /// the whole call, and a timeout applies to each request. The progress counts the content's bytes and never
    /// decreases.
    ///
    /// - Parameters:
    ///   - template: the request that creates the upload, without a body: a POST for tus. Its headers are sent with all
    ///     requests, except those about its content. `Upload-Metadata` replaces tus's name and media type. If the
    ///     server names a different origin, the redirect policy applies, and secrets and credentials are left out.
    ///   - content: a `FileBody`, or any body in memory, such as a `DataBody`. Its media type describes the upload. A
    ///     file must not change meanwhile.
    ///   - store: remembers the upload.
    ///   - settings: the protocol, the size of a request, and digests.
    ///   - backoff: when and how often the call tries again. Default: as for ``ContinueBodies``.
    /// - Returns: the last response. In the IETF's protocol, it's the response of the template's resource.
    /// - Throws: `.uploadInUse` if another task or process sends the same upload, `.uploadUnsupported`,
    ///   `.uploadFileChanged`, `.uploadMismatch`, `.uploadStoreFailed`, and the errors of `send(_:)`.
    @discardableResult
    public func upload<Template: RequestTemplate>(
        _ template: Template, from content: some HTTPBody, resuming store: UploadStore,
        _ settings: UploadSettings = UploadSettings(), continuing backoff: Backoff = Backoff()
    ) async throws -> HTTPResponse {
        let creation = try StandardRequestBuilder(template).request()
        guard creation.body.isEmpty else {
            let rule = "an upload's template has no body, because its content is an argument"
            throw HTTPError(.invalidRequest, request: creation, message: rule)
        }
        let link = ResumeUpload(store: store, settings: settings, backoff: backoff)
        let response = try await addingLink(link).stream(template.body(content))
        link.removeComplete()
        return response
    }

    /// Deletes an unfinished upload at the server, and removes it from the store. If the server has forgotten the
    /// upload or doesn't delete uploads (404, 405, 410 or 501), it's only removed. After a 400 or 403, the client asks
    /// with HEAD whether the server still has the upload. At the origin where the upload was created, the requests have
    /// the credentials and headers of the client, but not those of the template. At any other origin, and without an
    /// entry in the store, they have neither. To remove an upload that the server doesn't let you delete, use
    /// ``UploadStore/remove(_:)``.
    ///
    /// - Throws: `.uploadInUse` if a task or process sends the upload, and the errors of `send(_:)`. The store then
    ///   keeps the upload.
    public func cancel(_ upload: UnfinishedUpload, in store: UploadStore) async throws {
        var request = HTTPRequest(method: .delete, url: upload.url)
        request.headers = UploadProtocol.named(upload.kind)?.headers ?? [:]
        request.acceptedStatuses = HTTPStatusSet.success.union([.notFound, .gone, .methodNotAllowed, .notImplemented])
        let entry = try request.storing(isSent: false) { try store.entry(upload.id) }
        let current = try request.storing { try entry.upload() }
        // A server has chosen the URL. The argument's origin doesn't count, because a program may have decoded it.
        if current?.origin == nil || request.origin?.description != current?.origin {
            request.removedHeaders = RedirectPolicy.standardWithheldHeaders
        }
        do { try await send(request) } catch let error as HTTPError {
            guard [.badRequest, .forbidden].contains(error.response?.status) else { throw error }
            request.method = .head
            request.headers[.cacheControl] = "no-store"
            request.acceptedStatuses = UploadProtocol.forgotten
            guard (try? await send(request)) != nil else { throw error }
        }
        // Another upload of the file may have replaced it.
        if current?.url == upload.url { entry.forget() }
    }
}

extension HTTPError.Code {
    /// Another task or process sends the same upload.
    public static let uploadInUse = Self(rawValue: "uploadInUse")
    /// The server announces no protocol for uploads that continue, or not for this content, or it names a URL that
    /// can't be used. Nothing of the content was sent.
    public static let uploadUnsupported = Self(rawValue: "uploadUnsupported")
    /// The file changed while it was being uploaded. The next call starts a new upload.
    public static let uploadFileChanged = Self(rawValue: "uploadFileChanged")
    /// The server's offset or length contradicts what was sent, or the server has completed the upload before it had
    /// all bytes. The next call starts a new upload.
    public static let uploadMismatch = Self(rawValue: "uploadMismatch")
    /// The store's files could not be read or written.
    public static let uploadStoreFailed = Self(rawValue: "uploadStoreFailed")
}
