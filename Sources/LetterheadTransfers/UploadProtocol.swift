// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A protocol for uploads that continue: `.tus` or `.draft`. Set it in ``UploadSettings`` if the server supports it but
/// doesn't announce it in its response to OPTIONS.
public struct UploadProtocol: Sendable {
    let name: String
    /// The headers in all requests to an upload.
    let headers: HTTPHeaders
    /// The media type for a chunk.
    let contentType: MediaType
    /// Whether the last request announces that it is the last one. If not, the last byte completes the upload.
    let isEndedByRequest: Bool
    /// Whether a response to OPTIONS announces the protocol.
    let isAnnounced: @Sendable (HTTPHeaders) -> Bool
    /// The header that confirms an upload, as error messages show it.
    let confirmation: String
    /// Whether response headers confirm that the server supports the protocol and has an unfinished upload. Nil if only
    /// the response to HEAD can tell.
    let isConfirmed: @Sendable (HTTPHeaders) -> Bool?
    /// Adds the headers for the request that creates an upload.
    let create: @Sendable (inout HTTPHeaders, UploadContent, _ metadata: [String: String]) -> Void
    /// Adds the headers for a request with a content range. The last argument is its SHA-256 digest in Base64, if it
    /// was requested.
    let append: @Sendable (inout HTTPHeaders, Range<Int>, _ isLast: Bool, _ digest: String?) -> Void

    static func named(_ name: String) -> UploadProtocol? { all.first { $0.name.isSame(as: name) } }
    static let all = [tus, draft]
    /// The statuses in response to HEAD after which an upload can't be continued. For an upload that doesn't exist, tus
    /// 1.0 allows 403, 404 and 410, and the IETF protocol allows any 4xx.
    static let forgotten: HTTPStatusSet = [.badRequest, .forbidden, .notFound, .gone]
}

extension HTTPHeaders {
    /// Reads a field with one number that isn't negative.
    func count(of name: Name) -> Int? {
        let values = values(for: name)
        return values.count == 1 ? ContentRange.number(values[0][...]) : nil
    }
}
