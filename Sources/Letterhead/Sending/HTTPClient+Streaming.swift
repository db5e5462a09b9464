public import Foundation

extension HTTPClient {
    /// Sends a template and returns the response when its status and headers have arrived. The body is received while
    /// it is read.
    ///
    /// ```swift
    /// let response = try await client.stream(Export())
    /// for try await chunk in response.body { … }
    /// ```
    ///
    /// The response is not decoded. The body can be iterated once. If it is released before its end, its connection is
    /// closed.
    ///
    /// - Throws: ``HTTPError``, also for a status that is not accepted; and `CancellationError` if the calling task was
    ///   cancelled.
    public func stream<Template: RequestTemplate>(_ template: Template) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .streamed)).response()
    }

    /// Sends a template and saves the body of its response to a file. Only a small part of the body is in memory at any
    /// time.
    ///
    /// The file is created or replaced when the body is complete and the response has passed the validators, the check
    /// of its status and the template's `finish`. The size is limited to 16 GiB, or to
    /// ``RequestTemplate/responseLimit(_:)``. The response is not decoded, and the body of the returned response is
    /// empty; see ``HTTPResponse/savedFile``. If the response to a conditional request is 304, the file remains
    /// unchanged and `savedFile` is nil.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled. If the status is not
    ///   accepted, the error is ``HTTPError/Code/unacceptableStatus`` and the body is not saved. If the file cannot be
    ///   written, the error is ``HTTPError/Code/cannotSaveResponse``.
    @discardableResult
    public func download<Template: RequestTemplate>(_ template: Template, to file: URL) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .file(file))).response()
    }

    /// Sends a plain request and returns the response when its status and headers have arrived. The body is received
    /// while it is read.
    ///
    /// - Throws: ``HTTPError``, also for a status that is not accepted; and `CancellationError` if the calling task was
    ///   cancelled.
    public func stream(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await send(request, delivered: .streamed)
    }

    /// Sends a plain request and saves the body of its response to a file; see ``download(_:to:)-(Template,_)``.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled. If the status is not
    ///   accepted, the error is ``HTTPError/Code/unacceptableStatus`` and the body is not saved. If the file cannot be
    ///   written, the error is ``HTTPError/Code/cannotSaveResponse``.
    @discardableResult
    public func download(_ request: HTTPRequest, to file: URL) async throws -> HTTPResponse {
        try await send(request, delivered: .file(file))
    }

    private func send(_ request: HTTPRequest, delivered delivery: ResponseDelivery) async throws -> HTTPResponse {
        var request = request
        request.responseDelivery = delivery
        return try await send(request)
    }
}
