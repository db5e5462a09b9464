// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The unparsed bytes of a response. The caller parses them, so that parsing doesn't occupy the thread that serves all
/// transfers.
struct ReceivedResponse: ~Copyable {
    var head: [UInt8] = []
    var trailers: [UInt8] = []
    /// The heads of interim responses, at most ``mostInterim``.
    var interim: [[UInt8]] = []
    /// The body, or empty for a streamed response.
    var body = GrowingBytes()

    /// Parses the received bytes. This method doesn't change the value, because the thread that receives a streamed
    /// body may read the head at the same time.
    ///
    /// - Parameters:
    ///   - request: the request that was sent.
    ///   - received: the body in memory, or empty for a streamed response.
    ///   - facts: what the transport measured.
    ///   - decodingRatio: the largest ratio of decompressed to compressed bytes. Nil leaves the body compressed.
    ///   - limit: the largest number of bytes in the decompressed body.
    ///   - streaming: creates a streamed body. Its length is nil if it isn't known. If this closure is nil, the body is
    ///     `received`.
    func response(
        to request: HTTPRequest, with received: Data, facts: TransportFacts, decodingRatio: Int?, upTo limit: Int,
        streaming: ((HTTPStatus, _ length: Int?, ContentDecoder?) -> HTTPResponseBody)?
    ) throws(TransportFailure) -> HTTPResponse {
        var head = try ResponseHead(self.head)
        if !trailers.isEmpty { facts.trailers = try ResponseHead.trailers(trailers) }
        let length = head.bodyLength(of: request.method)
        var decoder: ContentDecoder?
        if let decodingRatio, length != 0 {
            decoder = try ContentDecoder(head.headers, maximumRatio: decodingRatio)
        }
        if decoder != nil { ContentDecoder.clean(&head.headers) }
        let body: HTTPResponseBody
        if let streaming {
            body = streaming(head.status, length, decoder)
        } else {
            guard decoder != nil || received.count <= limit else { throw .tooLarge(limit) }
            body = HTTPResponseBody(try decoder?.decode(received, upTo: limit) ?? received)
        }
        var response = HTTPResponse(request: request, status: head.status, headers: head.headers, body: body)
        if decoder != nil { response.isDecoded = true }
        response.provide(facts)
        guard !interim.isEmpty else { return response }
        response.interimResponses = try interim.map { lines throws(TransportFailure) in
            let head = try ResponseHead(lines)
            return HTTPResponse(request: request, status: head.status, headers: head.headers, body: HTTPResponseBody())
        }
        return response
    }

    static let mostInterim = 16
}

/// Why a transfer failed. The loader converts it to an ``HTTPError`` with the request.
struct TransportFailure: Error {
    var code: HTTPError.Code
    var message: String
    var mayHaveBeenSent = true
    var underlying: (any Error)?
    private var isOfBody = false
    var head: [UInt8] = []
    var body = Data()

    init(_ code: HTTPError.Code, _ message: String, mayHaveBeenSent: Bool = true, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.mayHaveBeenSent = mayHaveBeenSent
        self.underlying = underlying
    }

    /// The request was cancelled. ``error(for:)`` adds a message that names what cancelled it.
    static let cancelled = TransportFailure(.cancelled, "")
    static let noMemory = TransportFailure(
        .responseTooLarge, "there is not enough memory for the body of the response")
    static func tooLarge(_ limit: Int) -> TransportFailure {
        TransportFailure(
            .responseTooLarge,
            "the body is larger than the \(limit) bytes allowed (to allow more, raise responseLimit)")
    }

    /// The same failure with ``mayHaveBeenSent`` set to false. Use it only if it's certain that nothing was sent.
    var unsent: TransportFailure {
        var failure = self
        failure.mayHaveBeenSent = false
        return failure
    }

    static func ofBody(_ error: any Error) -> TransportFailure {
        var failure = TransportFailure(.invalidRequest, "", underlying: error)
        failure.isOfBody = true
        return failure
    }

    func error(for request: HTTPRequest) -> HTTPError {
        if isOfBody, let underlying {
            return HTTPError(ofBody: underlying, request: request, mayHaveBeenSent: mayHaveBeenSent)
        }
        let partial = head.isEmpty ? nil : try? ResponseHead(head)
        let response = partial.map {
            HTTPResponse(request: request, status: $0.status, headers: $0.headers, body: HTTPResponseBody(body))
        }
        return HTTPError(
            code, request: request, response: response, underlying: underlying,
            message: code == .cancelled ? request.canceller() : message, mayHaveBeenSent: mayHaveBeenSent)
    }
}
