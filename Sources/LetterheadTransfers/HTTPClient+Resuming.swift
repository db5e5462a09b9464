// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Determines how a download finds out whether an existing part file belongs to it.
public struct DownloadResumption: Sendable, Hashable {
    private let key: String?

    /// Continues the part file beside the destination if it belongs to the same URL.
    ///
    /// The part file must have been begun for the same URL, including its query. The response must come from the same
    /// URL as before, without its query.
    ///
    /// The URL doesn't identify the user, and a part file remains after a reset. If the content differs by user, use
    /// ``fromPart(key:)`` with a key that contains the user. If a closure provides the client environment, the URL
    /// isn't known before the request is sent, so each call starts again.
    public static let fromPart = DownloadResumption(key: nil)

    /// Continues the part file beside the destination if it was begun with the same key, such as `"video-3"`.
    ///
    /// Use it for a URL that changes with each download, for example because it is signed.
    public static func fromPart(key: String) -> DownloadResumption { DownloadResumption(key: key) }

    /// Whether the response URL must be the same as for the existing part.
    var isByURL: Bool { key == nil }

    /// Returns the URL or the key that identifies the requested resource, or nil if the URL is not known.
    func identity(of request: HTTPRequest) -> String? {
        if let key { return "key \(key)" }
        let request = request.withEnvironment
        return request.host == nil ? nil : (try? request.urlString()).map { "url \($0)" }
    }
}

extension HTTPClient {
    /// Saves a response body to a file, and continues an interrupted download, even after the program has restarted.
    ///
    /// ```swift
    /// try await client.download(GetVideo(id: 3), to: url, resuming: .fromPart)
    /// ```
    ///
    /// The call collects the bytes in a hidden part file beside the destination. Once the file is complete and the
    /// response has been accepted, it replaces the destination. If the download fails or is cancelled, the part file
    /// stays, and the next call requests only the rest. If the connection is lost during the call, the download
    /// continues as with ``ContinueBodies``.
    ///
    /// ## When it starts again
    ///
    /// - If the resource has changed, or the server ignores the range or refuses it with 416, the call downloads the
    ///   whole file. It uses the response if that contains the whole file, or else sends one more request. After a lost
    ///   connection, a call starts again only once.
    /// - If the response has no strong validator or no length (see ``ContinueBodies``), each call starts again.
    ///
    /// ## What differs from a plain download
    ///
    /// - The progress includes the bytes of earlier calls. It begins at zero if the download starts again.
    /// - The response has the status 200 and the whole length.
    /// - The `validators` of the client check only response heads. To check the content, pass a digest. If the server
    ///   sends a `Repr-Digest` (RFC 9530) with SHA-256, the file must have that digest as well.
    /// - A small record file beside the part contains hashes that identify what the bytes belong to.
    ///
    /// - Parameters:
    ///   - template: a GET without a body.
    ///   - file: the destination. Only one download at a time can write to it, because its part file is locked while
    ///     the body arrives.
    ///   - resumption: how the call recognizes a part file that it can continue.
    ///   - digest: the digest that the complete file must have. Default: nil (only the digest that the server sends is
    ///     checked, if any).
    ///   - backoff: when and how often the call continues after a lost connection, or sends a request again because the
    ///     server is down or busy. Retries of the request and the client count as well. Default: as for
    ///     ``ContinueBodies``.
    /// - Throws: `.partInUse` if a different download writes the part file. `.digestMismatch` if the file has a
    ///   different digest: the part is then removed, and the destination doesn't change. Also the errors of
    ///   `download(_:to:)`.
    @discardableResult
    public func download<Template: RequestTemplate>(
        _ template: Template, to file: URL, resuming resumption: DownloadResumption, digest: ContentDigest? = nil,
        continuing backoff: Backoff = Backoff()
    ) async throws -> HTTPResponse {
        try await addingLink(ResumeDownload(resumption: resumption, digest: digest, backoff: backoff))
            .download(template, to: file)
    }

    /// Saves the response body of a plain request, with the same rules as `download(_:to:resuming:digest:continuing:)`
    /// for a template.
    @discardableResult
    public func download(
        _ request: HTTPRequest, to file: URL, resuming resumption: DownloadResumption, digest: ContentDigest? = nil,
        continuing backoff: Backoff = Backoff()
    ) async throws -> HTTPResponse {
        try await addingLink(ResumeDownload(resumption: resumption, digest: digest, backoff: backoff))
            .download(request, to: file)
    }
}

extension HTTPError.Code {
    /// A different task or process is writing the part file of this download.
    public static let partInUse = Self(rawValue: "partInUse")
    /// The downloaded file doesn't have the expected digest, and was removed. The destination is unchanged.
    public static let digestMismatch = Self(rawValue: "digestMismatch")
}
