/// The parts of a request that a custom method has written, and an identity that stays the same when these parts change
/// with each request. A cache compares the identity in place of the parts.
struct RequestSignature: Sendable {
    let identity: String
    let headers: Set<HTTPHeaders.Name>
    let query: [QueryParameters.Item]
}

private enum RequestSignatureOption: HTTPRequestOption {
    static let defaultOptionValue: RequestSignature? = nil
}

extension HTTPRequest {
    /// The parts that a custom method has written; nil if there are none.
    var signature: RequestSignature? { self[option: RequestSignatureOption.self] }

    /// Notes which parts differ from those of the request before it was signed.
    ///
    /// Another request that a method sends, such as a request for a nonce, is not a signed request.
    mutating func markSigned(by identity: String, from unsigned: HTTPRequest) {
        guard method == unsigned.method, origin == unsigned.origin, path == unsigned.path else { return }
        let names = Set(headers.map(\.name)).filter { headers.values(for: $0) != unsigned.headers.values(for: $0) }
        let items = query.filter { !unsigned.query.contains($0.name) }
        guard !names.isEmpty || !items.isEmpty else { return }
        self[option: RequestSignatureOption.self] = RequestSignature(
            identity: (signature.map { $0.identity + " " } ?? "") + identity,
            headers: names.union(signature?.headers ?? []), query: items + (signature?.query ?? []))
    }
}

/// Passes requests to the next loader, and notes what a custom method has added to them.
struct MarkSigned: HTTPLoader {
    let unsigned: HTTPRequest
    let identity: String
    let next: any HTTPLoader

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var request = request
        request.markSigned(by: identity, from: unsigned)
        return try await next.load(request)
    }

    func reset() async { await next.reset() }
}
