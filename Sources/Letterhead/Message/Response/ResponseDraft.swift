// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

/// A complete download that hasn't replaced its destination yet. Its bytes are in a hidden file in the same folder.
/// Refusing or dropping the download removes that file.
final class ResponseDraft: Sendable {
    private enum State: Equatable {
        case pending, discarded
        case placed(URL)
    }

    let count: Int
    private let place: URL
    private let draft: URL
    private let state = Mutex(State.pending)
    private let lease: ResourceLease?
    private let onEnd: @Sendable () -> Void

    init(_ draft: URL, for place: URL, count: Int, onEnd: @escaping @Sendable () -> Void = {}) {
        (self.draft, self.place, self.count, self.onEnd) = (draft, place, count, onEnd)
        lease = ResourceLedger.lease("the hidden file of the download to \(place.lastPathComponent)")
    }

    deinit { discard() }

    /// The file with the bytes, or nil if the draft was discarded.
    var url: URL? {
        switch state.withLock({ $0 }) {
        case .pending: draft
        case .placed(let file): file
        case .discarded: nil
        }
    }

    /// Moves the hidden file to its destination, replacing an existing file, or to a new name in the same folder. A
    /// second call does nothing.
    ///
    /// - Parameter name: the new name, which gets a number if it is taken. Default: nil (the destination name).
    /// - Throws: a file system error.
    func put(as name: Filename? = nil) throws {
        let isNew = try state.withLock { state in
            if case .placed = state { return false }
            guard state == .pending else { throw POSIXError(.ENOENT) }
            if let name {
                state = .placed(try move(to: name))
            } else {
                try PrivateFile.checkPlace(place)
                // The system reads both paths before it returns.
                guard unsafe rename(draft.filePath, place.filePath) == 0 else { throw POSIXError.last }
                state = .placed(place)
            }
            lease?.release()
            return true
        }
        if isNew { onEnd() }
    }

    /// Takes the first free name. Neither system call replaces a file or follows a link, so two processes never get the
    /// same name. The system reads paths only until its functions return.
    private func move(to name: Filename) throws -> URL {
        for number in 0..<10_000 {
            let file = place.deletingLastPathComponent().appendingPathComponent(name.text(number), isDirectory: false)
            if unsafe link(draft.filePath, file.filePath) == 0 {
                _ = unsafe unlink(draft.filePath)
                return file
            }
            guard errno != EEXIST else { continue }
            // Not all file systems can link. There, an empty file takes the name.
            let taken = unsafe open(file.filePath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            if taken < 0, errno == EEXIST { continue }
            guard taken >= 0, close(taken) == 0 else { throw POSIXError.last }
            guard unsafe rename(draft.filePath, file.filePath) != 0 else { return file }
            let error = POSIXError.last
            _ = unsafe unlink(file.filePath)
            throw error
        }
        throw POSIXError(.EEXIST)
    }

    /// Removes the hidden file, unless it has been moved to its destination.
    func discard() {
        let isPending = state.withLock { state in
            guard case .pending = state else { return false }
            state = .discarded
            return true
        }
        guard isPending else { return }
        try? FileManager.default.removeItem(at: draft)
        lease?.release()
        onEnd()
    }
}

private enum ResponseDraftValue: HTTPRequestOption {
    static let defaultOptionValue: ResponseDraft? = nil
}

extension HTTPResponse {
    /// The file that a download was saved to, or nil for other responses.
    ///
    /// After the download, it is the destination. Until the validators and the status accept the response, it is a
    /// hidden file next to the destination. Validators may read it, for example to verify its checksum. If the response
    /// is refused, the hidden file is removed and the destination stays unchanged.
    public var savedFile: URL? { draft?.url }

    /// The number of bytes that a download has saved, or nil for other responses.
    public var savedByteCount: Int? { draft?.count }

    /// Makes a file the saved body of a download, and empties ``body``. Call it in a link that writes the body to a
    /// file itself, with the destination in ``HTTPResponse/Delivery/file(_:)``.
    ///
    /// The file must be in the same folder as the destination, because it is renamed when the response is accepted. It
    /// is removed if the response is refused or dropped.
    ///
    /// - Parameters:
    ///   - file: the complete body. Its name must differ from the destination.
    ///   - byteCount: its size.
    ///   - destination: where the file is after the download.
    ///   - onEnd: called once, when the file has been moved or removed. Default: does nothing.
    public mutating func setSavedFile(
        _ file: URL, byteCount: Int, for destination: URL, onEnd: @escaping @Sendable () -> Void = {}
    ) {
        draft = ResponseDraft(file, for: destination, count: byteCount, onEnd: onEnd)
        body = HTTPResponseBody()
    }

    var draft: ResponseDraft? {
        get { self[option: ResponseDraftValue.self] }
        set { self[option: ResponseDraftValue.self] = newValue }
    }

    /// The number of bytes in the body, in memory or in a file, or nil if it isn't known yet.
    var contentCount: Int? { savedByteCount ?? body.length }
}

extension HTTPResponse {
    /// Returns the error for a download that could not write its file.
    func unsaved(_ error: any Error) -> HTTPError {
        HTTPError(
            .cannotSaveResponse, request: request, response: self, underlying: error,
            message: "the response could not be written to its file")
    }
}

/// Saves a response under a hidden name next to its destination, so that a reader never finds an incomplete file there.
struct ResponseFile {
    private let place: URL
    private let draft: URL

    init(_ place: URL) {
        self.place = place
        draft = place.hiddenNeighbor("\(UInt64.random(in: 0 ... .max))")
    }

    /// Writes the whole body, or removes the hidden file if that fails.
    func save(_ body: HTTPResponseBody) async throws -> ResponseDraft {
        var count = 0
        // The file belongs to the caller in the end, so it has the permissions of any new file.
        let descriptor = try PrivateFile.open(draft.filePath, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
        defer { close(descriptor) }
        do {
            for try await chunk in body {
                guard chunk.write(to: descriptor) else { throw POSIXError.last }
                count += chunk.count
            }
            guard fsync(descriptor) == 0 else { throw POSIXError.last }
        } catch {
            try? FileManager.default.removeItem(at: draft)
            throw error
        }
        return ResponseDraft(draft, for: place, count: count)
    }
}

extension POSIXError {
    /// The error of the last system call, from `errno`.
    fileprivate static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
