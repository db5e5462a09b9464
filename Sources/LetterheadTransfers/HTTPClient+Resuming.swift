// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// How a download finds what an earlier one has left.
public struct DownloadResumption: Sendable, Hashable {
    private let key: String?

    /// Continues the part file beside the destination if it was begun for the same URL, including its query, and if the
    /// response comes from the same URL without its query.
    ///
    /// The URL says nothing about the user: pass a key with the user for what differs by user, because a part outlives a
    /// reset. If a closure provides the environment of the client, the URL is not known in time, and each call starts
    /// again.
    public static let fromPart = DownloadResumption(key: nil)

    /// Continues the part file if it was begun with the same key, such as `"video-3"`. Use it for a URL that changes
    /// with each download, for example because it is signed.
    public static func fromPart(key: String) -> DownloadResumption { DownloadResumption(key: key) }

    /// Whether the URL of the response identifies the part.
    var isByURL: Bool { key == nil }

    /// Returns what identifies the resource of a request; nil if its URL is not known.
    func identity(of request: HTTPRequest) -> String? {
        if let key { return "key \(key)" }
        let request = request.withEnvironment
        return request.host == nil ? nil : (try? request.urlString()).map { "url \($0)" }
    }
}

extension HTTPClient {
    /// Saves the body of a response to a file, and continues a download that was interrupted, also by the end of the
    /// program.
    ///
    /// ```swift
    /// try await client.download(GetVideo(id: 3), to: url, resuming: .fromPart)
    /// ```
    ///
    /// The bytes are collected in a hidden part file beside the destination, with a small record of hashes that tells what
    /// they belong to. They take the place of the destination when they are complete and the response has been accepted. If the
    /// download fails or is cancelled, the part stays, and the next call requests only the rest. It starts again if the
    /// resource has changed, or if the server does not support ranges; if its response has no strong validator or no
    /// length (see ``ContinueBodies``), each call starts again. A connection that is lost during the call is continued
    /// as ``ContinueBodies`` does, with the settings in `continuing`; if the resource changes meanwhile, the call
    /// fails, and the next one starts again.
    ///
    /// The progress includes the bytes that were there. The response has the status 200 and the length of the whole
    /// file. Everything else is as in `download(_:to:)`, except that validators judge only heads: check the content
    /// with a digest. If the server sends a `Repr-Digest` (RFC 9530) with SHA-256, the file must have it as well.
    ///
    /// - Parameters:
    ///   - template: a GET without a body.
    ///   - file: the destination. Only one download at a time can write its part, which is open while the body arrives.
    ///   - resumption: how the part is recognized.
    ///   - digest: the digest of the complete file. Default: nil (only that of the server, if any, is checked). On Linux, a
    ///     second of processor time hashes about 200 MB in a release build, and 4 to 6 MB in a debug build.
    ///   - policy: when and how often a lost connection is continued.
    /// - Throws: the errors of `download(_:to:)`; `.partInUse`; and
    ///   `.digestMismatch`, in which case the part is removed and the destination does not change.
    @discardableResult
    public func download<Template: RequestTemplate>(
        _ template: Template, to file: URL, resuming resumption: DownloadResumption, digest: ContentDigest? = nil,
        continuing policy: ContinueBodies = ContinueBodies()
    ) async throws -> HTTPResponse {
        try await addingLink(ResumeDownload(resumption: resumption, digest: digest, policy: policy))
            .download(template, to: file)
    }

    /// Saves the body of the response to a plain request; see
    /// `download(_:to:resuming:digest:continuing:)`.
    @discardableResult
    public func download(
        _ request: HTTPRequest, to file: URL, resuming resumption: DownloadResumption, digest: ContentDigest? = nil,
        continuing policy: ContinueBodies = ContinueBodies()
    ) async throws -> HTTPResponse {
        try await addingLink(ResumeDownload(resumption: resumption, digest: digest, policy: policy))
            .download(request, to: file)
    }
}

extension HTTPError.Code {
    /// Another task or process writes the part of the download.
    public static let partInUse = Self(rawValue: "partInUse")
    /// The downloaded file does not have the expected digest. It was removed.
    public static let digestMismatch = Self(rawValue: "digestMismatch")
}
