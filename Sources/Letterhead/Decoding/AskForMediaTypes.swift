/// Asks for the media types that the decoder reads, in `Accept` (RFC 9110, 12.5.1), when nobody asked for others.
///
/// It stands behind the environment, so that a template and an environment win. A request whose answer is not decoded, or
/// whose decoder has no types, gets no header.
struct AskForMediaTypes: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard request.isDecoded, !request.headers.contains(.accept) else { return try await next.load(request) }
        let types = request.decoder?.mediaTypes ?? []
        guard !types.isEmpty else { return try await next.load(request) }
        var request = request
        request.headers[.accept] = list(of: types)
        return try await next.load(request)
    }

    // In one buffer, since every request has its list made, and `joined` takes several times as long.
    private func list(of types: [MediaType]) -> String {
        ByteText.text(atMost: types.reduce(0) { $0 + $1.description.utf8.count + 2 }) { list in
            for place in types.indices {
                if place > 0 { list.append(", ") }
                list.append(types[place].description)
            }
        }
    }
}
