/// Changes each response that ends an attempt, before validators judge it.
///
/// ```swift
/// extension HTTPResponseTransformer {
///     /// Some servers write JSON and call it text.
///     static let jsonByName = HTTPResponseTransformer { response in
///         if response.headers["Content-Type"] == "text/json" { response.headers["Content-Type"] = "application/json" }
///     }
/// }
///
/// let client = HTTPClient(environment: .production, transformers: [.jsonByName])
/// ```
///
/// Use: give a list to a client, or to one endpoint with `transformed(by:)`. They run in order, the client's first, so
/// that the endpoint's have the last word; once for each attempt, on the response behind all redirects. Of a failure
/// there is nothing to change, and they do not run. Choose ``ModifyResponse`` instead to change every response on its way
/// up, those of redirects and of token endpoints too.
///
/// One that throws ends the load with its error: no transformer behind it runs, no validator judges, nothing is sent
/// again. It may change everything but which request was answered; a response to another one is `.invalidResponse`. Of a
/// streamed response it gets the body as it arrives: it may put another one around it, and what it reads is gone.
public struct HTTPResponseTransformer: Sendable {
    private let change: @Sendable (inout HTTPResponse) async throws -> Void

    /// Makes a transformer.
    ///
    /// - Parameter change: changes the response; which request it answers stands in ``HTTPResponse/request``.
    public init(_ change: @escaping @Sendable (inout HTTPResponse) async throws -> Void) { self.change = change }

    /// Changes a response.
    ///
    /// - Throws: what its closure throws.
    public func transform(_ response: inout HTTPResponse) async throws { try await change(&response) }
}
