// SPDX-License-Identifier: MIT
public import LetterheadFoundation

extension RequestTemplate {
    /// Sets a header. The value replaces the values that the template has for this name. Pass nil to remove them.
    ///
    /// The last modifier takes precedence: `.header("X", "1").header("X", "2")` sends 2. The body, the client or the
    /// environment may still add a header that was removed. See ``omittingHeader(_:)``.
    public func header(_ name: HTTPHeaders.Name, _ value: String?) -> Modified<Self> {
        Modified(base: self, value.map { .headers([name: $0], isReplacing: true) } ?? .noHeader(name))
    }

    /// Sets headers. They replace the values that the template has for the same names.
    public func headers(_ headers: HTTPHeaders) -> Modified<Self> {
        Modified(base: self, .headers(headers, isReplacing: true))
    }

    /// Adds a header and keeps other values with the same name. Nil adds nothing.
    public func addingHeader(_ name: HTTPHeaders.Name, _ value: String?) -> Modified<Self> {
        Modified(base: self, .headers(value.map { [name: $0] } ?? [:], isReplacing: false))
    }

    /// Prevents the body, the client, the environment and the transport from adding a header. A header that the
    /// template sets is sent nevertheless. Several calls add up.
    ///
    /// ```swift
    /// Put<Void>("uploads/7").body(FileBody(at: picture)).omittingHeader(.contentType)  // presigned without a type
    /// ```
    ///
    /// `Content-Length` and `Transfer-Encoding` frame the message: omitting them fails with `.invalidRequest`. See
    /// ``RequestSettings/omittedHeaders``.
    public func omittingHeader(_ name: HTTPHeaders.Name) -> Modified<Self> {
        configured { $0.omittedHeaders = options.omittedHeaders.union([name]) }
    }

    /// Sets a query parameter. The value replaces the values that the template has for this name. Pass nil to remove
    /// them.
    ///
    /// The last modifier takes precedence: `.query("sort", "a").query("sort", "b")` sends `sort=b`.
    public func query(_ name: String, _ value: (any QueryValue)?) -> Modified<Self> {
        Modified(base: self, .query([name: value], replacing: name))
    }

    /// Adds a query parameter and keeps other values with the same name. Nil adds nothing.
    public func addingQuery(_ name: String, _ value: (any QueryValue)?) -> Modified<Self> {
        Modified(base: self, .query([name: value], replacing: nil))
    }

    /// Returns the template with the settings that a closure sets. See ``RequestConfigurable/configured(_:)``.
    public func configured(_ change: (inout HTTPRequestOptions) -> Void) -> Modified<Self> {
        var options = HTTPRequestOptions()
        change(&options)
        return Modified(base: self, .options(options))
    }
}

/// A template with changed headers, query or options. All modifiers that change them return this type.
///
/// - The last modifier takes precedence: `.header("X", "1").header("X", "2")` sends only 2.
/// - `.header("X", "1").addingHeader("X", "2")` sends both.
/// - Template headers take precedence over body headers, and these over environment headers.
public struct Modified<Base: RequestTemplate>: RequestDecorator {
    /// Headers are stored as `HTTPHeaders`, because its descriptions contain no secrets.
    enum Change: Sendable {
        case headers(HTTPHeaders, isReplacing: Bool)
        case noHeader(HTTPHeaders.Name)
        case query(QueryParameters, replacing: String?)
        case options(HTTPRequestOptions)
    }

    public var base: Base
    private let change: Change

    init(base: Base, _ change: Change) { (self.base, self.change) = (base, change) }

    /// The base headers with the change, such as an added or a removed header.
    public var headers: HTTPHeaders {
        var headers = base.headers
        switch change {
        case .headers(let added, isReplacing: true): headers.replace(with: added)
        case .headers(let added, isReplacing: false): added.forEach { headers.append($0.name, $0.value) }
        case .noHeader(let name): headers[name] = nil
        case .query, .options: break
        }
        return headers
    }

    /// The base query with the change. If a page position is a URL, the query doesn't change, because the server has
    /// chosen the URL.
    public var query: QueryParameters { changed(base.query) }

    func changed(_ query: QueryParameters) -> QueryParameters {
        guard case .query(let added, let name) = change else { return query }
        if case .url = (base as? any PaginatedTemplate)?.position { return query }
        var query = query
        if let name {
            query.replace(name, with: nil)
            query.replace(with: added)
        } else {
            added.forEach { query.append($0) }
        }
        return query
    }

    /// The base options, and the changed ones, which take precedence.
    public var options: HTTPRequestOptions {
        guard case .options(let added) = change else { return base.options }
        var options = base.options
        options.replace(with: added)
        return options
    }

    /// The statuses that `.accepting(_:)` has set, or otherwise those in the base.
    public var acceptedStatuses: HTTPStatusSet? {
        guard case .options(let added) = change, added.contains(AcceptedStatusesOption.self) else {
            return base.acceptedStatuses
        }
        return added.acceptedStatuses
    }
}

// These members repeat the defaults of RequestDecorator, which read `base` through the protocol and thus copy all
// layers of nested modifiers for each member. Here, `base` is a stored property that is read without a copy.
extension Modified {
    public var path: RequestPath { base.path }
    public var baseURL: URL? { base.baseURL }
    public var method: HTTPMethod { base.method }
    public var parameters: RequestParameters { base.parameters }
    public var body: Base.Body { base.body }
    public var boundary: String? { base.boundary }
    public func decode(_ response: HTTPResponse) async throws -> Base.Response { try await base.decode(response) }
    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        try await base.finish(result)
    }
}

extension Modified: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {}

extension RequestConfigurable {
    /// Replaces the client environment as a whole. Nil applies no environment.
    ///
    /// Credentials without `allowedOrigins` are still sent only to the origin of the original client environment.
    public func environment(_ environment: ServerEnvironment?) -> Configured {
        configured { $0.serverEnvironment = environment }
    }

    /// Sets the decoder for responses. It replaces the client decoder.
    public func decoder(_ decoder: any HTTPBodyDecoder) -> Configured { configured { $0.decoder = decoder } }

    /// Limits the bytes in the response body after decompression. See ``RequestSettings/responseLimit``.
    public func responseLimit(_ bytes: Int) -> Configured { configured { $0.responseLimit = bytes } }
}

extension RequestTemplate {
    /// Sets how the response body is delivered. ``HTTPClient/stream(_:)-(Template)`` and
    /// ``HTTPClient/download(_:to:)-(Template,_)`` replace this setting.
    public func responseDelivery(_ delivery: HTTPResponse.Delivery) -> Modified<Self> {
        configured { $0.responseDelivery = delivery }
    }

    /// Adds a closure that is called while the request body and the response body are transferred. Closures added
    /// before are called first. See ``RequestSettings/onProgress``.
    public func onProgress(
        _ report: @escaping @Sendable (HTTPRequest.Progress) -> Void
    ) -> Modified<Self> {
        let earlier = options[option: TransferProgressOption.self]
        return configured {
            $0.onProgress = { progress in
                earlier?(progress)
                report(progress)
            }
        }
    }

    /// Reports the progress to ``ProgressUpdates``, in addition to the ones added before.
    public func onProgress(_ updates: ProgressUpdates) -> Modified<Self> {
        configured {
            $0.progressUpdates = options.progressUpdates
            $0.reportProgress(to: updates)
        }
    }
}
