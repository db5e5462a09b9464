// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// One body that arrives in several responses. If its rest can't be requested, only the first response is read.
final class ContinuedBody: Sendable {
    private struct State {
        /// Nil while the rest is requested, and after the body was cancelled.
        var pieces: HTTPResponseBody.Iterator?
        /// The next byte position in the representation.
        var position: Int
        /// Where the current response ends in the representation, if its `Content-Range` contains that.
        var end: Int?
        var continuation: Continuation
        var isCancelled = false
    }

    /// Is thrown if the server sent a response that doesn't continue the body, and the caller can start again with it.
    struct Replaced: Error { let response: HTTPResponse }

    private let source: BodySource
    private let part: BodyPart?
    private let isReplaceable: Bool
    /// Where the whole body begins and ends. If ``part`` is nil, the end may not be known.
    private let (start, end): (Int, Int?)
    private let state: Mutex<State>

    /// - Parameters:
    ///   - response: the first response.
    ///   - part: describes the whole body. Default: nil (what the first response contains).
    ///   - position: where the response begins, if the part began in an earlier load. Default: nil (where the part
    ///     begins).
    ///   - isReplaceable: whether reading throws ``Replaced``. Default: false.
    init(
        _ response: HTTPResponse, as part: BodyPart? = nil, at position: Int? = nil, from source: BodySource,
        isReplaceable: Bool = false
    ) {
        let part = part ?? BodyPart(response)
        (self.source, self.part, self.isReplaceable) = (source, part, isReplaceable)
        (start, end) = (part?.range.lowerBound ?? 0, part?.range.upperBound ?? response.body.length)
        state = Mutex(
            State(
                pieces: response.body.makeAsyncIterator(), position: position ?? start, end: Self.end(of: response),
                continuation: Continuation(of: source.request, source.backoff, "the body continues")))
    }

    func body(length: Int?) -> HTTPResponseBody {
        HTTPResponseBody(length: length, pull: { try await self.next() }, cancel: { self.cancel() })
    }

    private func next() async throws -> Data? {
        while true {
            let result: Result<Data?, HTTPError>
            do { result = .success(try await piece()) } catch let error as HTTPError { result = .failure(error) }
            switch result {
            case .success(let piece?): return try counted(piece)
            case .success(nil) where isComplete: return nil
            // A transport reports a lost connection only if the length is known.
            case .success(nil) where !isAtEndOfResponse: throw fault("the body is truncated")
            case .success(nil): try await reopen(after: fault("the body is truncated"))
            // Nothing is left to request. Other failures may be those of a link that has checked the body.
            case .failure(let error) where part != nil && isComplete && error.isTemporary():
                return nil
            case .failure(let error): try await reopen(after: error)
            }
        }
    }

    private func piece() async throws -> Data? {
        guard var pieces = state.withLock({ $0.pieces }) else { throw CancellationError() }
        let piece = try await pieces.next()
        state.withLock { [pieces] state in if state.pieces != nil { state.pieces = pieces } }
        return piece
    }

    private var isAtEndOfResponse: Bool { state.withLock { $0.end == nil || $0.end == $0.position } }

    /// Returns where the part in a 206 ends.
    private static func end(of response: HTTPResponse) -> Int? {
        response.status == .partialContent ? ContentRange(response.headers)?.range?.upperBound : nil
    }

    private var isComplete: Bool {
        guard let part else { return true }
        return state.withLock { $0.position == part.range.upperBound }
    }

    /// Counts the bytes in a piece, and reports the progress.
    private func counted(_ piece: Data) throws(HTTPError) -> Data {
        let (position, end) = state.withLock { state in
            state.position += piece.count
            state.continuation.advance(by: piece.count)
            return (state.position, state.end)
        }
        if let part, position > end ?? part.range.upperBound { throw fault("the body has more bytes than announced") }
        source.report?(
            HTTPRequest.Progress(
                direction: .download, completedBytes: position - start, totalBytes: self.end.map { $0 - start }))
        return piece
    }

    /// Requests the rest of the body until a response continues it.
    private func reopen(after failure: HTTPError) async throws {
        guard let part, failure.isTemporary(whileReading: true) else { throw failure }
        // Dropping the iterator ends the previous transfer.
        _ = state.withLock { $0.pieces.take() }
        let position = state.withLock { $0.position }
        var failure = failure
        while true {
            try await wait(after: failure)
            let response: HTTPResponse
            do throws(HTTPError) {
                response = try await source.load(part.rest(from: position), if: part.validator)
            } catch {
                guard error.isTemporary(whileReading: true) else { throw error }
                failure = error
                continue
            }
            if Retry.Condition.standardStatuses.contains(response.status) {
                failure = response.error(
                    .unacceptableStatus, "the rest of the body could not be requested", underlying: failure)
                continue
            }
            if let fault = part.fault(of: response, from: position) {
                if isReplaceable { throw Replaced(response: response) }
                throw response.error(
                    .invalidResponse,
                    "the body broke off after \(position - start) bytes and cannot be continued: \(fault)",
                    underlying: failure)
            }
            return try resume(with: response)
        }
    }

    /// Waits before the next attempt.
    ///
    /// - Throws: the failure if no attempt is left.
    private func wait(after failure: HTTPError) async throws(HTTPError) {
        // The strategy and its random source may be custom code, so they are called outside of the lock.
        var continuation = state.withLock { $0.continuation }
        let retry = try continuation.retry(after: failure)
        state.withLock { [continuation] in $0.continuation = continuation }
        try await source.backoff.pause(before: retry)
    }

    private func resume(with response: HTTPResponse) throws(HTTPError) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled {
                (state.pieces, state.end) = (response.body.makeAsyncIterator(), Self.end(of: response))
            }
            return state.isCancelled
        }
        if isCancelled { throw HTTPError(.cancelled, request: source.request) }
    }

    private func cancel() {
        _ = state.withLock { state in
            state.isCancelled = true
            return state.pieces.take()
        }
    }

    private func fault(_ message: String) -> HTTPError {
        HTTPError(.invalidResponse, request: source.request, message: message)
    }
}

extension HTTPResponse {
    /// The response without its body, for an error.
    var withoutBody: HTTPResponse {
        var head = self
        head.body = HTTPResponseBody()
        return head
    }

    func error(_ code: HTTPError.Code, _ message: String, underlying: (any Error)? = nil) -> HTTPError {
        HTTPError(code, request: request, response: withoutBody, underlying: underlying, message: message)
    }
}
