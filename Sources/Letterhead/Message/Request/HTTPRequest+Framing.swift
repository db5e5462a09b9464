import Foundation

extension HTTPRequest {
    /// Returns the headers to send: those of the request and those of the body, with at most one Content-Type, and an
    /// `Accept` with the media types of the decoder if the response will be decoded and nothing else sets the header.
    ///
    /// The boundary of a multipart body is always the body's. A request may set another multipart type, to which the
    /// boundary is added. Any other type would make a multipart body unreadable and is replaced by the body's. An empty
    /// body has no headers. The result contains neither Content-Length nor Transfer-Encoding: a transport derives them
    /// from the length of ``framedBody()``.
    public func framedHeaders() -> HTTPHeaders {
        var merged = headers
        if let accept = context.accept, !merged.contains(.accept) { merged[.accept] = accept }
        guard !body.isEmpty else { return merged }
        let own = body.additionalHeaders
        merged.fill(from: own)
        if let asked = headers[.contentType], let own = own[.contentType] {
            merged[.contentType] = Self.contentType(asked: asked, own: own)
        }
        return merged
    }

    /// Returns the bytes to send, beginning with the first byte, and enforces the length that the body declares.
    ///
    /// Call it before anything is sent, so that a body that cannot be encoded fails early. The length of the result is
    /// exact; it is nil if the number of bytes is not known. ``HTTPError/init(ofBody:request:mayHaveBeenSent:)``
    /// converts the errors of the iteration into an ``HTTPError``.
    ///
    /// - Throws: the error of the body, converted by ``HTTPError/init(ofBody:request:mayHaveBeenSent:)``: usually
    ///   `.invalidRequest` with this error as the underlying error.
    public func framedBody() throws(HTTPError) -> BodyChunks {
        guard !body.isEmpty else { return BodyChunks(Data()) }
        do {
            return try body.chunks().held(to: body.contentLength)
        } catch {
            throw HTTPError(ofBody: error, request: self)
        }
    }

    /// The request with the headers of its body.
    var framed: HTTPRequest {
        var framed = self
        framed.headers = framedHeaders()
        return framed
    }

    private static func contentType(asked: String, own: String) -> String {
        guard let own = MediaType(own), own.isMultipart, let boundary = own["boundary"] else { return asked }
        guard let type = MediaType(asked), type.isMultipart else { return own.description }
        return type.setting("boundary", to: boundary).description
    }
}

extension HTTPMethod {
    /// Whether a server expects a length even without a body (RFC 9110, 8.6).
    var expectsBody: Bool { self == .post || self == .put || self == .patch }
}

extension HTTPError {
    /// Creates the error of a request whose body could not be encoded, or failed while it was sent.
    ///
    /// - Parameters:
    ///   - error: the error of the body. An ``HTTPError`` is kept, a `CancellationError` becomes `.cancelled`, and any
    ///     other error becomes the underlying error of `.invalidRequest`.
    ///   - request: the request.
    ///   - mayHaveBeenSent: whether some bytes of the request may have been sent. Default: false.
    public init(ofBody error: any Error, request: HTTPRequest, mayHaveBeenSent: Bool = false) {
        if let error = error as? HTTPError {
            self = error
        } else {
            self.init(
                error is CancellationError ? .cancelled : .invalidRequest, request: request, underlying: error,
                message: Self.summary(of: error), mayHaveBeenSent: mayHaveBeenSent)
        }
    }
}
