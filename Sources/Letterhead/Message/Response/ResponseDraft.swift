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
    ///
    /// - Throws: the error of the file system; ``DownloadEnded`` when the file was removed before.
    func put() throws {
        try state.withLock { state in
            guard state != .placed else { return }
            guard state == .pending else { throw DownloadEnded() }
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
private enum ResponseDraftValue: HTTPRequestOption {
    static let defaultOptionValue: ResponseDraft? = nil
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
        get { self[option: ResponseDraftValue.self] ?? draft(in: request.heldDownload) }
        set { self[option: ResponseDraftValue.self] = newValue }
    }

    /// How many bytes the body has, wherever they are; nil when nobody knows yet.
    var contentCount: Int? { savedByteCount ?? body.length }
}

extension HTTPResponse {
    /// The error of a download whose file could not be written.
    func unsaved(_ error: any Error) -> HTTPError {
        HTTPError(
            .cannotSaveResponse, request: request, response: self, underlying: error,
            message: "the response could not be written to its file")
    }
}
