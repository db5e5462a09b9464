// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

extension HTTPResponse {
    /// How the client delivers a response body.
    public enum Delivery: Sendable, Hashable {
        /// The whole body is in memory when the response is returned. ``RequestSettings/responseLimit`` limits its
        /// size.
        case buffered
        /// The body arrives in pieces, as the reader requests them. The response is returned as soon as its head is
        /// complete. Iterate the body once.
        case streamed
        /// The body is saved to a file, and the body of the response is empty. See ``HTTPResponse/savedFile``.
        ///
        /// The bytes are saved under a hidden name in the same folder. They replace the file when the body is complete
        /// and the response is accepted. An existing file stays unchanged if a validator,
        /// ``RequestTemplate/finish(_:)`` or the status refuses the response. If the status isn't accepted, the body is
        /// in memory.
        ///
        /// Only a regular file is replaced, or a symbolic link to one or to nothing. Any other destination, and a
        /// folder that is missing or can't be written, is `.cannotSaveResponse` before anything is sent.
        case file(URL)

        /// The body limit if the request doesn't set one. See ``RequestSettings/responseLimit``.
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

/// Whether a download only needs its destination folder, and the response determines the name.
enum FolderDownloadOption: HTTPRequestOption {
    static let defaultOptionValue = false
}

extension RequestSettings {
    /// Saves the body in a folder, under the name that the server suggests.
    mutating func deliver(into folder: URL) {
        responseDelivery = .file(folder.appendingPathComponent(".letterhead-download", isDirectory: false))
        self[option: FolderDownloadOption.self] = true
    }
}

enum ResponseLimitOption: HTTPRequestOption {
    static let defaultOptionValue: Int? = nil
}

extension RequestSettings {
    /// How the response body is delivered. Default: in memory.
    public var responseDelivery: HTTPResponse.Delivery {
        get { self[option: ResponseDeliveryOption.self] }
        set { self[option: ResponseDeliveryOption.self] = newValue }
    }

    /// The largest number of bytes in the response body, counted after decompression.
    ///
    /// Default: 64 MiB for a buffered response, 16 GiB for a download, and no limit for a streamed response. A larger
    /// body is `.responseTooLarge` and closes its connection. A declared length is checked before the body is read. A
    /// negative limit is `.invalidRequest`.
    ///
    /// If a download isn't saved because of its status, its body is in memory. It may then have at most 64 MiB, or this
    /// limit if it is lower.
    ///
    /// A body over the limit doesn't hide the status: a redirect is still followed, and an unaccepted status is still
    /// retried or reported as the error. Of such a body, no bytes above the limit are kept.
    public var responseLimit: Int {
        get { self[option: ResponseLimitOption.self] ?? responseDelivery.standardLimit }
        set { self[option: ResponseLimitOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// Whether a download with this status is saved: the status is accepted and isn't 304. A 304 means that the
    /// representation that the client has is current (RFC 9110, 15.4.5).
    func saves(_ status: HTTPStatus) -> Bool { status != .notModified && accepts(status) }

    package var hasResponseLimit: Bool { options.contains(ResponseLimitOption.self) }

    /// The largest number of response bytes that may be in memory.
    ///
    /// It applies to a buffered response, to one that isn't saved because of its status, and to a stream with a slow
    /// reader. Only a buffered response with a higher limit raises it above 64 MiB.
    var bufferLimit: Int {
        responseDelivery == .buffered ? responseLimit : min(responseLimit, HTTPResponse.Delivery.buffered.standardLimit)
    }
}

extension HTTPResponse {
    /// Returns the response with its streamed body as ``RequestSettings/responseDelivery`` requires: streamed, in
    /// memory, or in a file. Call it at the end of your own transport, with the response as it is received.
    ///
    /// ```swift
    /// let response = HTTPResponse(request: request, status: status, headers: headers, body: streamedBody)
    /// return try await response.delivered(to: request)
    /// ```
    ///
    /// A file is hidden until the response has passed the chain. ``HTTPClient``, ``SendableRequest`` and
    /// ``HTTPLoader/start(_:completion:)`` then move it to its destination. Dropping the response earlier removes it.
    ///
    /// ``RequestSettings/responseLimit`` limits the body. If the status isn't accepted, the body is in memory for the
    /// error, and not in the file. A 304 has no body and leaves the file unchanged.
    ///
    /// - Throws: `.responseTooLarge`, `.cannotSaveResponse` if the file can't be written, and errors from reading the
    ///   body.
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
        return HTTPError(
            .responseTooLarge, request: request, response: withoutBody, underlying: error,
            message: "\(error) (to allow more, raise responseLimit)")
    }
}

extension HTTPError {
    /// Returns a response with a body over the limit, if a body with its status is usually discarded. The status then
    /// decides what happens. Reading the body throws this error after the received bytes.
    ///
    /// - Throws: this error if the status is accepted and isn't a redirect.
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

/// The number of bytes that a body may still have. The copies of a counting closure share it.
private final class ByteAllowance: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    /// Subtracts a number of bytes, or returns false if they exceed the allowance.
    func take(_ count: Int) -> Bool {
        left.withLock { left in
            guard count <= left else { return false }
            left -= count
            return true
        }
    }
}
