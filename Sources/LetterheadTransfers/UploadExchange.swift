// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// Sends all requests for an upload. The progress that it reports never decreases, even if lost bytes are sent again.
final class UploadExchange: Sendable {
    /// The request from the template, without its progress closure.
    let request: HTTPRequest
    private let next: any HTTPLoader
    private let total: Int
    private let highest = Mutex(0)
    private let sent = Atomic(false)
    private let onProgress: (@Sendable (HTTPRequest.Progress) -> Void)?

    init(_ request: HTTPRequest, over next: any HTTPLoader, total: Int) {
        (self.next, self.total, onProgress) = (next, total, request.onProgress)
        var request = request
        (request.responseDelivery, request.onProgress) = (.buffered, nil)
        self.request = request
    }

    /// Whether a byte of a request may have been sent.
    var mayHaveSent: Bool { sent.load(ordering: .relaxed) }

    func report(_ count: Int) {
        let isNew = highest.withLock { highest in
            defer { highest = max(highest, count) }
            return count > highest
        }
        if isNew { onProgress?(HTTPRequest.Progress(direction: .upload, completedBytes: count, totalBytes: total)) }
    }

    /// Sends a request, and returns a response with any status, even if a client validator has refused it.
    ///
    /// - Parameters:
    ///   - method: the method. Default: nil (the template method).
    ///   - url: the upload URL. Default: nil (the template URL).
    ///   - headers: the protocol and content headers. At the template URL, template headers take precedence, except for
    ///     fields that only the protocol may set.
    ///   - body: the content. Default: nil.
    ///   - range: the content range that the body contains. Default: empty.
    func send(
        _ method: HTTPMethod? = nil, to url: URL? = nil, _ headers: HTTPHeaders = [:], body: (any HTTPBody)? = nil,
        covering range: Range<Int> = 0..<0
    ) async throws(HTTPError) -> HTTPResponse {
        var sent = request
        if let method { sent.method = method }
        if let url {
            sent = try moved(sent, to: url, with: body)
            sent.headers.replace(with: headers)
        } else {
            var all = headers
            all.replace(with: HTTPHeaders(sent.headers.filter { !Self.own.contains($0.name) }))
            sent.headers = all
        }
        if let body {
            // Only the server offset tells which bytes to send again, so no link below may retry.
            (sent.body, sent.maximumRetries) = (body, 0)
            sent.onProgress = { [weak self] progress in
                guard progress.direction == .upload else { return }
                self?.report(range.lowerBound + progress.share(of: range.count))
            }
        }
        let response: HTTPResponse
        do throws(HTTPError) { response = try await next.load(sent) } catch {
            if error.mayHaveBeenSent { self.sent.store(true, ordering: .relaxed) }
            guard let refused = error.response, !refused.status.isSuccess else { throw error }
            response = refused
        }
        self.sent.store(true, ordering: .relaxed)
        // The body is discarded in any case. If it is larger than the limit, it isn't in memory yet, and discarding it
        // releases what a link has reserved for the response, such as a slot. The next request may need that slot.
        await response.body.discard()
        return response
    }

    /// The protocol fields. A template can't set them.
    private static let own: Set<HTTPHeaders.Name> = [
        "Tus-Resumable", "Upload-Complete", "Upload-Draft-Interop-Version", "Upload-Length", "Upload-Offset",
    ]

    private static func belongsToContent(_ name: HTTPHeaders.Name) -> Bool {
        switch name.fieldClass {
        case .connection, .content, .representation, .digest, .condition: true
        default: name == .range || ASCII.lowercased(name.rawValue).begins(with: "upload-")
        }
    }

    /// Returns a request for the upload URL, as if a redirect had led there. Template headers about content and
    /// conditions are removed, because they don't apply to a chunk.
    ///
    /// - Parameter creation: the request that created the upload, as it was sent. Default: nil (an earlier load has
    ///   created it).
    func moved(
        _ sent: HTTPRequest, to url: URL, with body: (any HTTPBody)?, namedBy creation: HTTPRequest? = nil
    ) throws(HTTPError) -> HTTPRequest {
        var sent = sent
        sent.body = body ?? EmptyBody()
        sent.headers = HTTPHeaders(sent.headers.filter { !Self.belongsToContent($0.name) })
        do { return try sent.moved(to: url, namedBy: creation) } catch {
            let rule =
                switch error {
                case .downgrade:
                    "its scheme is http, although the request used https (a server behind a proxy must know the "
                        + "forwarded scheme)"
                case .otherOrigin:
                    "it has a different origin, and the redirect policy forbids it or the content is secret"
                default: "it isn't an http or https URL"
                }
            throw HTTPError(
                .uploadUnsupported, request: request, message: "the server's URL for the upload can't be used: \(rule)")
        }
    }
}

extension HTTPRequest.Progress {
    /// Returns how many body bytes were sent. A signer may frame the body, so more bytes may be sent than the body has.
    fileprivate func share(of length: Int) -> Int {
        guard let totalBytes, totalBytes > length else { return completedBytes }
        return Int(Double(length) * (Double(completedBytes) / Double(totalBytes)))
    }
}
