import Foundation
import Synchronization

extension HTTPResponse {
    /// Returns the response with its streamed body in the form of ``RequestSettings/responseDelivery``: streamed, in
    /// memory, or in a file. A transport calls it with the response as it is received.
    ///
    /// ```swift
    /// let response = HTTPResponse(request: request, status: status, headers: headers, body: streamedBody)
    /// return try await response.delivered(to: request)
    /// ```
    ///
    /// A file is hidden until the response has passed the chain; ``HTTPClient``, ``SendableRequest`` and
    /// ``HTTPLoader/start(_:completion:)`` then move it to its place. It is removed if the response is dropped before.
    ///
    /// The body is limited by ``RequestSettings/responseLimit``. A response whose status is not accepted is not saved
    /// to the file: its body is in memory, for the error. A 304 has no body and leaves the file unchanged.
    ///
    /// - Parameter request: the request that was sent.
    /// - Throws: `.responseTooLarge`; `.cannotSaveResponse` if the file cannot be written; and the errors of the body.
    public func delivered(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var response = self
        do {
            switch request.responseDelivery {
            case .streamed: response.body = try body.limited(to: request.responseLimit, response: self)
            case .file(let url) where request.saves(status):
                let body = try body.limited(to: request.responseLimit, response: self)
                response.draft = try await ResponseFile(url).save(body)
                response.body = HTTPResponseBody()
            case .buffered, .file:
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
        let error = HTTPBodyError.tooLarge(limit: limit)
        var response = self
        response.body = HTTPResponseBody()
        return HTTPError(
            .responseTooLarge, request: request, response: response, underlying: error,
            message: "\(error); see responseLimit")
    }
}

extension HTTPResponseBody {
    /// Returns the same body with a limit. A larger body fails with `.responseTooLarge`: immediately if its length is
    /// known, or at the first byte above the limit.
    package func limited(to limit: Int, response: HTTPResponse) throws -> HTTPResponseBody {
        guard limit < .max else { return self }
        let error = response.tooLarge(limit: limit)
        if let length, length > limit { throw error }
        let left = ByteAllowance(limit)
        return map(length: length) { piece in
            guard left.take(piece.count) else { throw error }
            return piece
        }
    }
}

/// The number of bytes that a body may still have. It is a class, because the closure that counts shares it.
private final class ByteAllowance: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    /// Subtracts a number of bytes. Returns false if they exceed the allowance.
    func take(_ count: Int) -> Bool {
        left.withLock { left in
            guard count <= left else { return false }
            left -= count
            return true
        }
    }
}
