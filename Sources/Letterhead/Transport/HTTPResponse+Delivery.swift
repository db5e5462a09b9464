import Foundation
import Synchronization

extension HTTPResponse {
    /// A response whose body still arrives, in the form that its request asks for: streamed, in memory, or in a file.
    ///
    /// A response whose status is not accepted does not go to the file: its body is in memory, for the error that it becomes.
    package func delivered(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var response = self
        do {
            switch request.responseDelivery {
            case .streamed: response.body = try body.limited(to: request.responseLimit, response: self)
            case .file(let url) where request.accepts(status):
                let body = try body.limited(to: request.responseLimit, response: self)
                let draft = try await ResponseFile(url).save(body)
                response.draft = draft
                response.body = HTTPResponseBody()
                if let download = request.heldDownload { try download.keep(draft) } else { try draft.put() }
            case .buffered, .file:
                request.heldDownload?.forget()
                let limit = request.bufferLimit
                if let length = body.length, length > limit { throw HTTPBodyError.tooLarge(limit: limit) }
                response.body = HTTPResponseBody(try await body.data(upTo: limit))
            }
        } catch HTTPBodyError.tooLarge(let limit) {
            throw tooLarge(limit: limit)
        } catch {
            response.body = HTTPResponseBody()
            if request.responseDelivery == .buffered || error is HTTPError || error is CancellationError {
                throw HTTPError(error, request: request, response: response)
            }
            throw response.unsaved(error)
        }
        return response
    }

    fileprivate func tooLarge(limit: Int) -> HTTPError {
        var response = self
        response.body = HTTPResponseBody()
        return HTTPError(
            .responseTooLarge, request: request, response: response, underlying: HTTPBodyError.tooLarge(limit: limit),
            message: "the body is larger than the \(limit) bytes allowed; see responseLimit")
    }
}

extension HTTPResponseBody {
    /// The same body, which fails with `.responseTooLarge` at its first byte too many, or at once when its length says so.
    fileprivate func limited(to limit: Int, response: HTTPResponse) throws -> HTTPResponseBody {
        guard limit < .max else { return self }
        let error = response.tooLarge(limit: limit)
        if let length, length > limit { throw error }
        let left = ByteAllowance(limit)
        return passing { next in
            let chunk = try await next()
            guard left.take(chunk?.count ?? 0) else { throw error }
            return chunk
        }
    }
}

/// How many bytes of a body may still come. A class, because the closure that counts is a value.
private final class ByteAllowance: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    /// Takes so many bytes; false when they are too many.
    func take(_ count: Int) -> Bool {
        left.withLock { left in
            guard count <= left else { return false }
            left -= count
            return true
        }
    }
}
