// SPDX-License-Identifier: MIT
extension LoaderLink {
    /// Returns the link with a condition. Requests that don't meet it skip the link.
    ///
    /// ```swift
    /// Deduplicate().when { $0.method.isSafe }
    /// ```
    ///
    /// - Parameters:
    ///   - otherwise: the link for the other requests. Default: nil (they skip the link).
    ///   - condition: called for each request. If the condition throws, the request fails and nothing is sent. An
    ///     ``HTTPError`` is thrown unchanged. Any other error becomes the underlying error of an ``HTTPError``.
    public func when(
        otherwise: (any LoaderLink)? = nil, _ condition: @escaping @Sendable (HTTPRequest) async throws -> Bool
    ) -> some LoaderLink {
        let parts: [(name: String?, link: any LoaderLink)] =
            [(nil, self)] + (otherwise.map { [("otherwise", $0)] } ?? [])
        return CompositeLink("When", parts) { request, next in
            guard let link = try await condition(request) ? self : otherwise else {
                return try await next.load(request)
            }
            return try await link.load(request, next: next)
        }
    }

    /// Returns the link with a condition: an option of the request must be true.
    ///
    /// The default of the option decides for requests that don't set it. If it is true, a request can opt out of the
    /// link. If it is false, a request can opt in.
    ///
    /// ```swift
    /// PrintLoader().when(PrintsRequests.self)       // request[option: PrintsRequests.self] = false opts out
    /// ```
    public func when<Option: HTTPRequestOption & SendableMetatype>(
        _ option: Option.Type, otherwise: (any LoaderLink)? = nil
    ) -> some LoaderLink where Option.Value == Bool {
        when(otherwise: otherwise) { $0[option: Option.self] }
    }
}

extension HTTPLoader {
    /// Returns a link that lets this loader respond to the requests that meet a condition, instead of the rest of the
    /// chain.
    ///
    /// Use it to serve some requests from a different source, such as the requests to one host from a folder:
    ///
    /// ```swift
    /// let chain = fixtures.when { $0.host == "demo.example.com" } --> HTTPClient.defaultTransport
    /// ```
    ///
    /// - Parameter condition: called for each request. If it throws, the request fails and nothing is sent.
    public func when(_ condition: @escaping @Sendable (HTTPRequest) async throws -> Bool) -> some LoaderLink {
        Responder(loader: self).when(condition)
    }
}

/// A loader as a link that never calls the next loader.
private struct Responder: LoaderLink, CustomStringConvertible {
    let loader: any HTTPLoader

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await loader.load(request)
    }

    func reset(next: any HTTPLoader) async {
        await loader.reset()
        await next.reset()
    }

    var description: String { chainName(of: loader) }
}
