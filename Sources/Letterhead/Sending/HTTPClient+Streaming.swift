public import Foundation

extension HTTPClient {
    /// Sends a template and gives the response as soon as its head is there; the body is pulled as it is read.
    ///
    /// ```swift
    /// let response = try await client.stream(Export())
    /// for try await chunk in response.body { … }
    /// ```
    ///
    /// The template decodes nothing. The body can be walked once; dropping it ends its connection.
    ///
    /// - Throws: ``HTTPError``, also for a status that is no success; and `CancellationError` when the calling task was
    ///   cancelled.
    public func stream<Template: RequestTemplate>(_ template: Template) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .streamed)).response()
    }

    /// Sends a template and saves the body of its response in a file, never holding more than a part of it in memory.
    ///
    /// The file appears when it is whole and the response has been judged by validators, by its status and by the
    /// template's `finish`; until then, a file that is there already stays what it was. It has at most 16 GiB, or as many
    /// bytes as ``RequestTemplate/responseLimit(_:)`` allows. The template decodes nothing, and the body of the response
    /// that is returned is empty; see ``HTTPResponse/savedFile``.
    ///
    /// - Throws: ``HTTPError``, also for a status that is not accepted, whose body is not saved, and
    ///   ``HTTPError/Code/cannotSaveResponse`` when the file cannot be written; and `CancellationError` when the calling
    ///   task was cancelled.
    @discardableResult
    public func download<Template: RequestTemplate>(_ template: Template, to file: URL) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .file(file))).response()
    }

    /// Sends a plain request and returns the response when its head has arrived, as for a template.
    ///
    /// - Throws: ``HTTPError``, also for a status that is not accepted; and `CancellationError` when the calling task was
    ///   cancelled.
    public func stream(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await send(request, delivered: .streamed)
    }

    /// Sends a plain request and saves the body of its response in a file, as for a template.
    ///
    /// - Throws: ``HTTPError``, also for a status that is not accepted, whose body is not saved; and `CancellationError` when
    ///   the calling task was cancelled.
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
