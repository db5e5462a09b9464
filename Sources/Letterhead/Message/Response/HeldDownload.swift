import Synchronization

/// A download that replaces its file only after its response has been accepted.
///
/// ``HTTPRequest/holdingDownload(_:)`` stores this object in the options of the request. The object keeps the draft,
/// because a link or a template may replace the response with a new one. This type is a class because the transport and
/// the caller share it.
final class HeldDownload: Sendable {
    private enum State {
        case open(ResponseDraft?)
        case ended
    }

    private let state = Mutex(State.open(nil))

    /// The draft of the last response; nil if that response was not saved.
    var draft: ResponseDraft? {
        if case .open(let draft) = state.withLock({ $0 }) { draft } else { nil }
    }

    /// Whether the response has neither been accepted nor refused yet.
    var isOpen: Bool { state.withLock { if case .open = $0 { true } else { false } } }

    /// Keeps the draft of a new response, replacing the previous one.
    ///
    /// - Throws: ``DownloadEnded`` if the download has already been accepted or refused.
    func keep(_ draft: ResponseDraft) throws {
        try state.withLock { state in
            guard case .open = state else { throw DownloadEnded() }
            state = .open(draft)
        }
    }

    /// Drops the draft, because a new attempt begins or the response was refused.
    func forget() {
        state.withLock { state in
            if case .open = state { state = .open(nil) }
        }
    }

    /// Ends the download. A response that arrives later is not saved.
    func end() { state.withLock { $0 = .ended } }
}

/// The error of a response that arrives after its download has ended.
struct DownloadEnded: Error, CustomStringConvertible {
    var description: String { "the download to which this response belongs has already ended" }
}

/// The download that a request belongs to.
private enum HeldDownloadOption: HTTPRequestOption {
    static let defaultOptionValue: HeldDownload? = nil
}

extension HTTPRequest {
    /// The download that this request belongs to. If it is nil, a response that is saved to a file replaces the file
    /// without further checks.
    var heldDownload: HeldDownload? { self[option: HeldDownloadOption.self] }

    /// The same request without the download that it belonged to.
    var withoutHold: HTTPRequest {
        guard options.contains(HeldDownloadOption.self) else { return self }
        var request = self
        request.options.remove(HeldDownloadOption.self)
        return request
    }

    /// Whether a download whose response has this status is saved: the status is accepted and is not 304. A 304 means
    /// that the representation that the client already has is current (RFC 9110, 15.4.5).
    func saves(_ status: HTTPStatus) -> Bool { status != .notModified && accepts(status) }

    /// Whether this request is a download to a file and belongs to no open ``HeldDownload``.
    private var isOwnDownload: Bool {
        guard options.contains(ResponseDeliveryOption.self), case .file = responseDelivery else { return false }
        return heldDownload?.isOpen != true
    }

    /// Sends this request and checks its response with the closure. A download replaces its file only if the closure
    /// returns.
    ///
    /// - Throws: the error of the closure; `.cannotSaveResponse` if the status of the response is accepted, but no file
    ///   can be saved for it.
    @inline(__always)  // Most requests are not downloads, and an async call costs more than the check.
    func holdingDownload(
        _ load: (HTTPRequest) async throws(HTTPError) -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        let download = isOwnDownload ? HeldDownload() : nil
        defer { download?.end() }
        var held = self
        if let download { held[option: HeldDownloadOption.self] = download }
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await load(held)
        } catch {
            guard let download else { throw error }
            download.draft?.discard()
            error.response?.draft?.discard()
            throw error.with(request: error.request.withoutHold, response: error.response?.withoutHold)
        }
        guard let download else { return response }
        return try response.saved(by: download)
    }
}

extension HTTPResponse {
    /// Returns the draft of a download whose response was replaced by this one; nil if there is no draft, if this
    /// response has a body, or if no file is saved for its status.
    func draft(in download: HeldDownload?) -> ResponseDraft? {
        guard let draft = download?.draft, body.buffered?.isEmpty == true, request.saves(status) else { return nil }
        return draft
    }

    /// The same response, whose request belongs to no download.
    fileprivate var withoutHold: HTTPResponse {
        var response = self
        response.request = request.withoutHold
        return response
    }

    /// Replaces the file of the download with its draft, and returns the response. If no file is saved for the status
    /// of the response, the file is not replaced.
    fileprivate func saved(by download: HeldDownload) throws(HTTPError) -> HTTPResponse {
        var response = withoutHold
        guard let draft = draft ?? draft(in: download) else {
            guard request.saves(status) else { return response }
            throw HTTPError(
                .cannotSaveResponse, request: response.request, response: response,
                message: "no file was saved: a link or the template replaced the response of the transport")
        }
        response.draft = draft
        do { try draft.put() } catch { throw response.unsaved(error) }
        return response
    }
}
