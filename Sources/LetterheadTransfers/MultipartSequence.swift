// SPDX-License-Identifier: MIT
public import Letterhead

extension HTTPClient {
    /// Sends a template, and returns the parts in its multipart response as they arrive (RFC 2046, 5.1).
    ///
    /// ```swift
    /// for try await part in client.parts(of: GetPages(of: "report")) {
    ///     print(part.headers[.contentType] ?? "", try await part.body.data().count)
    /// }
    /// ```
    ///
    /// The response may be `multipart/mixed`, `related`, `form-data` (RFC 7578), `byteranges` (RFC 9110, 14.6), or any
    /// other subtype. If the server needs an `Accept`, set it in the template.
    ///
    /// - The request is sent when you ask for the first part.
    /// - Each part body is streamed. Read it before you ask for the next part, which skips the rest. Only one chunk and
    ///   one part head are in memory.
    /// - If the body is malformed or truncated, you receive all earlier parts first. Then the part body or the sequence
    ///   throws the error.
    /// - If you leave the loop, the connection closes as soon as you have dropped its parts.
    /// - Lines may end with a bare LF if the first delimiter does. In any other body, only CRLF ends a part.
    ///
    /// The iteration throws these errors:
    ///
    /// - `.invalidRequest` if a limit is less than 1.
    /// - The errors of `stream(_:)`.
    /// - `.invalidResponse` if the response isn't multipart, has no valid boundary, is malformed, or ends before its
    ///   last delimiter.
    /// - `.responseTooLarge` above a limit.
    ///
    /// - Parameters:
    ///   - template: the request. Its `decode(_:)` is not called.
    ///   - partLimit: the maximum number of parts. Default: 10,000.
    ///   - headLimit: the maximum number of bytes in a part head and in the text before the first part. If a part
    ///     contains an HTTP response, it also limits the head of that response. Default: 16 KiB.
    public func parts<Template: RequestTemplate>(
        of template: Template, partLimit: Int = 10_000, headLimit: Int = 16 << 10
    ) -> some AsyncSequence<ResponsePart, any Error> & Sendable {
        MultipartSequence(
            partLimit: partLimit, headLimit: headLimit, open: { try await stream(template) },
            request: { try StandardRequestBuilder(template).request() })
    }
}

extension HTTPResponse {
    /// Returns the parts in the body as they arrive.
    ///
    /// Use it if the response head decides how to read the body. Otherwise, use `HTTPClient.parts(of:)`, which has the
    /// same rules.
    ///
    /// ```swift
    /// let response = try await client.stream(GetFile(range: "bytes=0-99,200-299"))
    /// for try await part in response.parts() { print(part.headers[.contentRange] ?? "") }
    /// ```
    ///
    /// The rules and limits of `HTTPClient.parts(of:)` apply. A streamed body can be iterated only once.
    public func parts(
        partLimit: Int = 10_000, headLimit: Int = 16 << 10
    ) -> some AsyncSequence<ResponsePart, any Error> & Sendable {
        MultipartSequence(partLimit: partLimit, headLimit: headLimit, open: { self }, request: { request })
    }
}

extension ResponsePart {
    /// Returns the parts inside this part, if it is itself multipart, such as a change set in a batch.
    ///
    /// The rules of `HTTPClient.parts(of:)` apply.
    public func parts(
        partLimit: Int = 10_000, headLimit: Int = 16 << 10
    ) -> some AsyncSequence<ResponsePart, any Error> & Sendable {
        response.parts(partLimit: partLimit, headLimit: headLimit)
    }
}

private struct MultipartSequence: AsyncSequence, Sendable {
    let partLimit: Int
    let headLimit: Int
    let open: @Sendable () async throws -> HTTPResponse
    /// Returns the request for the error that reports an invalid limit.
    let request: @Sendable () throws -> HTTPRequest

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    private func reader() async throws -> MultipartReader {
        for (name, limit) in [("partLimit", partLimit), ("headLimit", headLimit)] where limit < 1 {
            throw HTTPError(.invalidRequest, request: try request(), message: "\(name) is less than 1")
        }
        return try MultipartReader(try await open(), partLimit: partLimit, headLimit: headLimit)
    }

    struct Iterator: AsyncIteratorProtocol {
        /// Nil after the request has been sent.
        var sequence: MultipartSequence?
        var reader: MultipartReader?

        mutating func next(isolation actor: (any Actor)?) async throws -> ResponsePart? { try await next() }

        mutating func next() async throws -> ResponsePart? {
            var part: ResponsePart?
            defer { if part == nil { reader = nil } }
            if let sequence = sequence.take() { reader = try await sequence.reader() }
            part = try await reader?.next()
            return part
        }
    }
}
