// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A protocol for uploads that continue: `.tus` or `.draft`. Set it in ``UploadSettings`` if the server doesn't
/// announce it in its response to OPTIONS.
public struct UploadProtocol: Sendable {
    let name: String
    /// The fields in all requests to an upload.
    let headers: HTTPHeaders
    /// A chunk's media type.
    let contentType: MediaType
    /// Whether the last request tells that it is the last. Otherwise, the last byte completes the upload.
    let isEndedByRequest: Bool
    /// Whether a response to OPTIONS announces the protocol.
    let isAnnounced: @Sendable (HTTPHeaders) -> Bool
    /// The field with which a server of the protocol confirms an upload, for a message.
    let confirmation: String
    /// Whether a response comes from a server of the protocol that has an unfinished upload. nil if only the response
    /// to HEAD can tell.
    let isConfirmed: @Sendable (HTTPHeaders) -> Bool?
    /// Adds the fields of the request that creates an upload.
    let create: @Sendable (inout HTTPHeaders, UploadContent, _ metadata: [String: String]) -> Void
    /// Adds the fields of a request with a range of the content, and with the range's SHA-256 digest in Base64 if asked
    /// for.
    let append: @Sendable (inout HTTPHeaders, Range<Int>, _ isLast: Bool, _ digest: String?) -> Void

    static func named(_ name: String) -> UploadProtocol? { all.first { $0.name.isSame(as: name) } }
    static let all = [tus, draft]
    /// The statuses of a response to HEAD after which an upload can't be continued. tus 1.0 allows 403, 404 and 410 for
    /// an upload that doesn't exist, and the IETF's protocol any 4xx.
    static let forgotten: HTTPStatusSet = [.badRequest, .forbidden, .notFound, .gone]
}

extension HTTPHeaders {
    /// A field with one number that isn't negative.
    func count(of name: Name) -> Int? {
        let values = values(for: name)
        return values.count == 1 ? ContentRange.number(values[0][...]) : nil
    }
}
