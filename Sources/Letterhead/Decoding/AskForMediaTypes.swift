/// Sets `Accept` (RFC 9110, 12.5.1) to the media types that the decoder supports, if the header is not set.
///
/// It is below the environment, so that headers of the template and the environment take precedence. The header is not
/// set if the response is not decoded or the decoder declares no types.
struct AskForMediaTypes: LoaderLink, CancelledFromOutside {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard request.isDecoded, !request.headers.contains(.accept) else { return try await next.load(request) }
        let types = request.decoder?.mediaTypes ?? []
        guard !types.isEmpty else { return try await next.load(request) }
        var request = request
        request.headers[.accept] = list(of: types)
        return try await next.load(request)
    }

    // One buffer is used, because this runs for every request and `joined` is several times slower.
    private func list(of types: [MediaType]) -> String {
        ByteText.text(atMost: types.reduce(0) { $0 + $1.description.utf8.count + 2 }) { list in
            for place in types.indices {
                if place > 0 { list.append(", ") }
                list.append(types[place].description)
            }
        }
    }
}
