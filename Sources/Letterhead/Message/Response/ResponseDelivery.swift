// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

extension HTTPResponse {
    /// How the body of a response is delivered.
    public enum Delivery: Sendable, Hashable {
        /// The whole body in memory, limited by ``RequestSettings/responseLimit``.
        case buffered
        /// In pieces, as the reader requests them. The response is returned as soon as its head is complete. The body can
        /// be iterated once.
        case streamed
        /// To a file. The body of the response is empty; see ``HTTPResponse/savedFile``.
        ///
        /// The bytes are saved under a hidden name in the same folder, and take the place of the file when the body is
        /// complete and the response has been accepted. An existing file is not changed if a validator refuses the
        /// response, if a template refuses it in `finish`, or if its status is not accepted. The body of a response
        /// with a status that is not accepted is in memory.
        ///
        /// Only a regular file is replaced, or a symbolic link to one or to nothing. Any other destination, and a folder
        /// that is missing or cannot be written, is `.cannotSaveResponse` before anything is sent.
        case file(URL)

        /// The limit of a body if the request does not set one; see ``RequestSettings/responseLimit``.
        var standardLimit: Int {
            switch self {
            case .buffered: 64 << 20
            case .file: 16 << 30
            case .streamed: .max
            }
        }
    }
}

enum ResponseDeliveryOption: HTTPRequestOption {
    static let defaultOptionValue = HTTPResponse.Delivery.buffered
}

enum ResponseLimitOption: HTTPRequestOption {
    static let defaultOptionValue: Int? = nil
}

extension RequestSettings {
    /// How the body of the response is delivered. Default: in memory.
    public var responseDelivery: HTTPResponse.Delivery {
        get { self[option: ResponseDeliveryOption.self] }
        set { self[option: ResponseDeliveryOption.self] = newValue }
    }

    /// The largest number of bytes that the body of the response may have, counted after decompression.
    ///
    /// Default: 64 MiB for a buffered response, 16 GiB for a download, and no limit for a streamed response, whose
    /// reader decides when to stop. If a download is not saved because of its status, its body is held in memory and
    /// may have at most 64 MiB, or this limit if it is lower. A larger body is `.responseTooLarge`, and its connection
    /// is closed. If the response declares a length, the length is checked before the body is read. A negative limit is
    /// `.invalidRequest`.
    ///
    /// The limit does not hide a status: a redirect is followed, and a response with a status that is not accepted is
    /// retried or is an error because of its status. Of their bodies, no bytes above the limit are kept.
    public var responseLimit: Int {
        get { self[option: ResponseLimitOption.self] ?? responseDelivery.standardLimit }
        set { self[option: ResponseLimitOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// Whether a download whose response has this status is saved: the status is accepted and is not 304. A 304 means
    /// that the representation that the client already has is current (RFC 9110, 15.4.5).
    func saves(_ status: HTTPStatus) -> Bool { status != .notModified && accepts(status) }

    package var hasResponseLimit: Bool { options.contains(ResponseLimitOption.self) }

    /// The largest number of bytes of a response that may be held in memory: of a buffered response, of a response that
    /// is not saved because of its status, and of a stream whose reader is slow. Only the limit of a buffered response
    /// raises it above 64 MiB.
    var bufferLimit: Int {
        responseDelivery == .buffered ? responseLimit : min(responseLimit, HTTPResponse.Delivery.buffered.standardLimit)
    }
}

extension HTTPResponse {
    /// Returns the response with its streamed body in the form of ``RequestSettings/responseDelivery``: streamed, in
    /// memory, or in a file. Call it at the end of your own transport, with the response as it is received.
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
            return try tooLarge(limit: limit).judgedByStatus()
        } catch {
            response.body = HTTPResponseBody()
            if request.responseDelivery == .buffered || error is HTTPError || error is CancellationError {
                return try HTTPError(error, request: request, response: response).judgedByStatus()
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

extension HTTPError {
    /// Returns the response whose body is too large, if it is one that is usually discarded, so that its status decides.
    /// Reading its body throws this error after what has been received.
    ///
    /// - Throws: this error if the status is accepted and is not a redirect.
    func judgedByStatus() throws(HTTPError) -> HTTPResponse {
        guard code == .responseTooLarge, var response,
            !request.accepts(response.status) || (300..<400).contains(response.status.code)
        else { throw self }
        let beginning = Mutex(response.body.buffered)
        let pull = { @Sendable () throws -> Data? in
            if let piece = beginning.withLock({ $0.take() }) { return piece } else { throw self }
        }
        response.body = .received(length: nil, pull: pull, cancel: {})
        response.statusReason = message
        return response
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

/// The number of bytes that a body may still have, shared by the copies of a counting closure.
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
