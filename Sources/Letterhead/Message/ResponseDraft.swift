public import Foundation
import Synchronization

/// A download that has arrived whole and has not replaced the file yet: its bytes are in a hidden file of the same folder.
///
/// A class, because its owner must remove the hidden file when the download is refused or dropped.
final class ResponseDraft: Sendable {
    private enum State {
        case pending, placed, discarded
    }

    /// How many bytes were saved.
    let count: Int
    private let place: URL
    private let draft: URL
    private let state = Mutex(State.pending)

    /// Makes a draft of a hidden file that is complete.
    init(_ draft: URL, for place: URL, count: Int) {
        (self.draft, self.place, self.count) = (draft, place, count)
    }

    deinit { discard() }

    /// Where the bytes are; nil when the draft was discarded.
    var url: URL? {
        switch state.withLock({ $0 }) {
        case .pending: draft
        case .placed: place
        case .discarded: nil
        }
    }

    /// Moves the file to its place, over one that is there; does nothing the second time.
    func put() throws {
        try state.withLock { state in
            guard case .pending = state else { return }
            guard rename(draft.path, place.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
            state = .placed
        }
    }

    /// Removes the hidden file, unless it is in its place.
    func discard() {
        let isPending = state.withLock { state in
            guard case .pending = state else { return false }
            state = .discarded
            return true
        }
        if isPending { try? FileManager.default.removeItem(at: draft) }
    }
}

/// The draft of a download.
private enum ResponseDraftValue: HTTPResponseValue {
    static let defaultResponseValue: ResponseDraft? = nil
}

/// Whether a link or a client above the transport moves a download to its place.
private enum HeldDownloadOption: HTTPRequestOption {
    static let defaultOptionValue = false
}

extension HTTPResponse {
    /// The file to which a download was saved; nil for another response.
    ///
    /// Until validators and the status have been judged, it is a hidden file beside the place of the download, which a
    /// validator may read. Then it is the place itself.
    public var savedFile: URL? { draft?.url }

    /// How many bytes a download has saved; nil for another response.
    public var savedByteCount: Int? { draft?.count }

    var draft: ResponseDraft? {
        get { self[value: ResponseDraftValue.self] }
        set { self[value: ResponseDraftValue.self] = newValue }
    }

    /// How many bytes the body has, wherever they are; nil when nobody knows yet.
    var contentCount: Int? { savedByteCount ?? body.length }
}

extension HTTPRequest {
    /// Whether the transport leaves a download in its hidden file, because its response is still to be judged.
    var isDownloadHeld: Bool { options.contains(HeldDownloadOption.self) }

    /// Whether this is a download that nobody above holds back.
    private var isOwnDownload: Bool {
        guard options.contains(ResponseDeliveryOption.self), case .file = responseDelivery else { return false }
        return !isDownloadHeld
    }

    /// Loads and judges this request. A download replaces its file only when the closure returns.
    func holdingDownload(
        _ load: (HTTPRequest) async throws(HTTPError) -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        guard isOwnDownload else { return try await load(self) }
        var held = self
        held[option: HeldDownloadOption.self] = true
        var response: HTTPResponse
        do throws(HTTPError) {
            response = try await load(held)
        } catch {
            error.response?.draft?.discard()
            throw error.with(request: error.request.withoutHold)
        }
        response.request = response.request.withoutHold
        do { try response.draft?.put() } catch { throw response.unsaved(error) }
        return response
    }

    private var withoutHold: HTTPRequest {
        var request = self
        request.options.remove(HeldDownloadOption.self)
        return request
    }
}

extension HTTPResponse {
    /// The error of a download whose file could not be written.
    func unsaved(_ error: any Error) -> HTTPError {
        HTTPError(
            .cannotSaveResponse, request: request, response: self, underlying: error,
            message: "the response could not be written to its file")
    }
}
