import Foundation

extension HTTPRequest {
    /// The headers as they go out: those of the body below those of the request, with one Content-Type.
    ///
    /// The boundary of a multipart body is always the body's own: a request may name another multipart type, and gets
    /// the boundary added; any other type would make the body unreadable and gives way to the body's. An empty body
    /// brings no headers. Content-Length and Transfer-Encoding are not among them: a transport writes them by the length
    /// of ``framedBody()``.
    public func framedHeaders() -> HTTPHeaders {
        guard !body.isEmpty else { return headers }
        let own = body.additionalHeaders
        var merged = headers
        merged.fill(from: own)
        if let asked = headers[.contentType], let own = own[.contentType] {
            merged[.contentType] = Self.contentType(asked: asked, own: own)
        }
        return merged
    }

    /// The bytes as they go out, from the first one, held to the length that the body says.
    ///
    /// Call it before anything is sent, so that what cannot be made is not begun: its length is exact, and nil when it
    /// must be sent in chunks of unknown number. Errors of the walk are turned into an ``HTTPError`` by
    /// ``HTTPError/init(ofBody:request:mayHaveBeenSent:)``.
    ///
    /// - Throws: `.invalidRequest` with what the body threw underneath.
    public func framedBody() throws(HTTPError) -> BodyChunks {
        guard !body.isEmpty else { return BodyChunks(Data()) }
        do {
            return try body.chunks().held(to: body.contentLength)
        } catch {
            throw HTTPError(ofBody: error, request: self)
        }
    }

    private static func contentType(asked: String, own: String) -> String {
        guard own.utf8.count > 10, ASCII.lowercased(String(own.prefix(10))) == "multipart/",
            let boundary = MediaType(own)?["boundary"]
        else { return asked }
        guard let type = MediaType(asked), type.essence.hasPrefix("multipart/") else { return own }
        return type.setting("boundary", to: boundary).description
    }
}

extension HTTPError {
    /// The error of a request whose body could not be made, or threw while it was sent.
    ///
    /// - Parameters:
    ///   - error: what the body threw; an ``HTTPError`` stays what it is, a `CancellationError` is `.cancelled`, any
    ///     other is `.invalidRequest` with that error underneath.
    ///   - request: the request.
    ///   - mayHaveBeenSent: whether some of its bytes may have left. Default: false.
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
