// SPDX-License-Identifier: MIT
extension ClientDefaults {
    init(decoder: any HTTPBodyDecoder) {
        options.decoder = decoder
        accept = decoder.accept
    }

    mutating func change(_ change: (inout ClientDefaults) -> Void) {
        change(&self)
        accept = options.decoder?.accept
    }

    /// Adds the settings that a request doesn't set.
    func apply(to request: inout HTTPRequest) {
        let hasOptions = !request.options.isEmpty
        request.options.fill(from: options)
        if hasOptions {
            if !options.omittedHeaders.isEmpty { request.omittedHeaders.formUnion(options.omittedHeaders) }
            // If a request sets one of these to nil, the client sets it.
            if request.decoder == nil { request.decoder = options.decoder }
            if request.encoder == nil, let own = options.encoder { request.encoder = own }
            if request.retryStrategy == nil, let own = options.retryStrategy { request.retryStrategy = own }
            if request.maximumRetries == nil, let own = options.maximumRetries { request.maximumRetries = own }
            if request.redirectPolicy == nil, let own = options.redirectPolicy { request.redirectPolicy = own }
        }
        request.passEncoder()
        if !headers.isEmpty {
            request.fill(headers: request.removedHeaders.isEmpty ? headers : harmlessHeaders(for: request))
        }
        guard !query.isEmpty, !request.isRedirected else { return }
        // The server has chosen the whole URL of such a page.
        if case .url = (request.template as? any PaginatedTemplate)?.position { return }
        request.query.fill(from: query)
    }

    /// The headers that a different origin may receive.
    private func harmlessHeaders(for request: HTTPRequest) -> HTTPHeaders {
        HTTPHeaders(
            headers.filter { field in
                !request.removedHeaders.contains(field.name) && !field.isSecret
                    && !request.redaction.isSecret(header: field.name)
            })
    }
}
