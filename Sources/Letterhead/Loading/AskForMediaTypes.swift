/// Asks for the media types that the decoder reads, in `Accept` (RFC 9110, 12.5.1), when nobody asked for others.
///
/// It stands behind the environment, so that a template and an environment win. A request whose answer is not decoded, or
/// whose decoder has no types, gets no header.
struct AskForMediaTypes: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard request.isDecoded, !request.headers.contains(.accept) else { return try await next.load(request) }
        let types = request.decoder?.mediaTypes.map(\.description) ?? []
        guard !types.isEmpty else { return try await next.load(request) }
        var request = request
        request.headers[.accept] = types.joined(separator: ", ")
        return try await next.load(request)
    }
}
