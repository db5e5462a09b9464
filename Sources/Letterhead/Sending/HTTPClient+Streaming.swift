public import Foundation

extension HTTPClient {
    /// Sends a template and returns the response when its head has arrived. The body is received while it is read.
    ///
    /// ```swift
    /// let response = try await client.stream(Export())
    /// for try await chunk in response.body { … }
    /// ```
    ///
    /// The template decodes nothing. The body can be iterated once; releasing it closes its connection.
    ///
    /// - Throws: ``HTTPError``, also for a status that is not accepted; and `CancellationError` if the calling task was
    ///   cancelled.
    public func stream<Template: RequestTemplate>(_ template: Template) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .streamed)).response()
    }

    /// Sends a template and saves the body of its response to a file. Only a small part of the body is in memory at a
    /// time.
    ///
    /// The file appears when it is complete and the response has passed the validators, the status check and the
    /// template's `finish`. Until then, an existing file is unchanged. The limit is 16 GiB, or
    /// ``RequestTemplate/responseLimit(_:)``. The template decodes nothing, and the body of the returned response is
    /// empty; see ``HTTPResponse/savedFile``.
    ///
    /// - Throws: ``HTTPError``, also for a status that is not accepted, whose body is not saved, and
    ///   ``HTTPError/Code/cannotSaveResponse`` if the file cannot be written; and `CancellationError` if the calling
    ///   task was cancelled.
    @discardableResult
    public func download<Template: RequestTemplate>(_ template: Template, to file: URL) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .file(file))).response()
    }

    /// Sends a plain request and returns the response when its head has arrived. The body is received while it is read.
    ///
    /// - Throws: ``HTTPError``, also for a status that is not accepted; and `CancellationError` if the calling task was
    ///   cancelled.
    public func stream(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await send(request, delivered: .streamed)
    }

    /// Sends a plain request and saves the body of its response to a file, like the download of a template.
    ///
    /// - Throws: ``HTTPError``, also for a status that is not accepted, whose body is not saved; and
    ///   `CancellationError` if the calling task was cancelled.
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
