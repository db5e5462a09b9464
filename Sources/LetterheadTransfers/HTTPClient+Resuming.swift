// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Determines how a download recognizes an earlier download's part.
public struct DownloadResumption: Sendable, Hashable {
    private let key: String?

    /// Continues the part file beside the destination if it was begun for the same URL, including its query, and if the
    /// response comes from the same URL without its query.
    ///
    /// The URL doesn't identify the user, and a part outlives a reset: if the content differs by user, pass a key that
    /// contains the user. If a closure provides the client's environment, the URL isn't known in time, and each call
    /// starts again.
    public static let fromPart = DownloadResumption(key: nil)

    /// Continues the part file if it was begun with the same key, such as `"video-3"`. Use it for a URL that changes
    /// with each download, for example because it is signed.
    public static func fromPart(key: String) -> DownloadResumption { DownloadResumption(key: key) }

    /// Whether the response's URL identifies the part.
    var isByURL: Bool { key == nil }

    /// Returns what identifies a request's resource, or nil if its URL is not known.
    func identity(of request: HTTPRequest) -> String? {
        if let key { return "key \(key)" }
        let request = request.withEnvironment
        return request.host == nil ? nil : (try? request.urlString()).map { "url \($0)" }
    }
}

extension HTTPClient {
    /// Saves a response's body to a file, and continues a download that was interrupted, even if the program has ended
    /// in between.
    ///
    /// ```swift
    /// try await client.download(GetVideo(id: 3), to: url, resuming: .fromPart)
    /// ```
    ///
    /// The call collects the bytes in a hidden part file beside the destination, with a small record: hashes that tell
    /// what they belong to. The part replaces the destination when it is complete and the response has been accepted.
    ///
    /// If the download fails or is cancelled, the part stays, and the next call requests only the rest. If the
    /// connection is lost during the call, the download continues as with ``ContinueBodies``.
    ///
    /// If the resource has changed, or the server ignores the range or refuses it with 416, the download starts again
    /// in the same call: with the whole body if the server has sent it, or else with one more request. After a lost
    /// connection, a call starts again only once. Each call starts again if the response has no strong validator or no
    /// length (see ``ContinueBodies``).
    ///
    /// The progress includes the bytes that were there, and begins at zero if the download starts again. The response
    /// has the status 200 and the whole file's length. Everything else is as in `download(_:to:)`, except that
    /// validators judge only heads: check the content with a digest. If the server sends a `Repr-Digest` (RFC 9530)
    /// with SHA-256, the file must have it as well.
    ///
    /// - Parameters:
    ///   - template: a GET without a body.
    ///   - file: the destination. Only one download at a time can write its part, which is open while the body arrives.
    ///   - resumption: how the part is recognized.
    ///   - digest: the complete file's digest. Default: nil (checks only the server's digest, if any).
    ///   - backoff: when and how often a lost connection is continued, and a request is sent again if the server is
    ///     down or busy. Retries of the request or the client count as well. Default: as for ``ContinueBodies``.
    /// - Throws: `.partInUse` if another download writes the part, `.digestMismatch` if the file has another digest
    ///   (the part is then removed, and the destination doesn't change), and the errors of `download(_:to:)`.
    @discardableResult
    public func download<Template: RequestTemplate>(
        _ template: Template, to file: URL, resuming resumption: DownloadResumption, digest: ContentDigest? = nil,
        continuing backoff: Backoff = Backoff()
    ) async throws -> HTTPResponse {
        try await addingLink(ResumeDownload(resumption: resumption, digest: digest, backoff: backoff))
            .download(template, to: file)
    }

    /// Saves the body of the response to a plain request, as `download(_:to:resuming:digest:continuing:)` does for a
    /// template.
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
    /// Another task or process writes the download's part.
    public static let partInUse = Self(rawValue: "partInUse")
    /// The call has removed the downloaded file, because it doesn't have the expected digest.
    public static let digestMismatch = Self(rawValue: "digestMismatch")
}
