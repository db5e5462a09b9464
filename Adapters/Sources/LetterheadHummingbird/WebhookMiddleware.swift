// SPDX-License-Identifier: MIT
import Foundation
public import Hummingbird
import Letterhead
import LetterheadHTTPTypes
public import LetterheadSigning
import Logging

/// Lets only webhooks with a valid signature reach their handlers.
///
/// ```swift
/// router.group("webhooks")
///     .add(middleware: WebhookMiddleware(.sha256(secret)))
///     .post("pushes") { request, context in
///         let push = try await request.decode(as: Push.self, context: context)
///         …
///         return Response(status: .noContent)
///     }
/// ```
///
/// The handler reads the same bytes that were verified. Nothing of the body is decoded before the verification.
///
/// | Response | Cause |
/// |---|---|
/// | 401 | the signature is missing, wrong, too old or too far in the future. The reason is only logged |
/// | 413 | the body is larger than the limit |
/// | 500 | the secret of the `Webhook` is empty or malformed. The reason is only logged |
///
/// A sender retries a webhook that it believes was not received, and a replay within the tolerance has a valid
/// signature. If a handler must not run twice, let it store the identifiers of the webhooks.
public struct WebhookMiddleware<Context: RequestContext>: RouterMiddleware {
    private let webhook: Webhook
    private let limit: Int?

    /// Creates a middleware.
    ///
    /// - Parameters:
    ///   - webhook: the form of the signature, and the secrets.
    ///   - limit: the largest body in bytes. `Request.decode` has the limit of the context as well. Default: nil
    ///     (`maxUploadSize` of the context).
    public init(_ webhook: Webhook, limit: Int? = nil) { (self.webhook, self.limit) = (webhook, limit) }

    /// Reads and verifies the body, and calls the next handler only if the signature is valid.
    @concurrent
    public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: limit ?? context.maxUploadSize)
        do {
            try webhook.verify(Data(body.readableBytesView), headers: HTTPHeaders(request.headers))
        } catch {
            let isOurs = (error as? HTTPAuthentication.Failure)?.reason == .misconfigured
            context.logger.log(level: isOurs ? .error : .notice, "refused a webhook: \(error)")
            throw Hummingbird.HTTPError(isOurs ? .internalServerError : .unauthorized)
        }
        return try await next(request, context)
    }
}
