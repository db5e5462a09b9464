// There is a type for each method, so that an API can declare functions for `Get<User>` and for `Post<User>`.

/// A GET request as a value: `Get<User>("users/\(login)")`. See ``Endpoint``.
public struct Get<Response: Sendable>: RequestDecorator {
    /// The endpoint with its method.
    public let base: Endpoint<Response>

    /// Creates a template.
    ///
    /// - Parameters:
    ///   - path: the path. A path without a slash at its beginning is appended to the path of the base URL.
    ///   - query: the query. Items with the value nil are omitted. Default: none.
    ///   - headers: the headers. Default: none.
    public init(_ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:]) {
        base = Endpoint(.get, path, query: query, headers: headers)
    }
}

/// A POST request as a value: `Post<User>("users", body: JSONBody(user))`. See ``Endpoint``.
public struct Post<Response: Sendable>: RequestDecorator {
    /// The endpoint with its method.
    public let base: Endpoint<Response>

    /// Creates a template.
    ///
    /// - Parameters:
    ///   - path: the path. A path without a slash at its beginning is appended to the path of the base URL.
    ///   - query: the query. Items with the value nil are omitted. Default: none.
    ///   - headers: the headers. Default: none.
    ///   - body: the body. Default: none.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) {
        base = Endpoint(.post, path, query: query, headers: headers, body: body)
    }
}

/// A PUT request as a value: `Put<User>("users/\(login)", body: JSONBody(user))`. See ``Endpoint``.
public struct Put<Response: Sendable>: RequestDecorator {
    /// The endpoint with its method.
    public let base: Endpoint<Response>

    /// Creates a template.
    ///
    /// - Parameters:
    ///   - path: the path. A path without a slash at its beginning is appended to the path of the base URL.
    ///   - query: the query. Items with the value nil are omitted. Default: none.
    ///   - headers: the headers. Default: none.
    ///   - body: the body. Default: none.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) {
        base = Endpoint(.put, path, query: query, headers: headers, body: body)
    }
}

/// A PATCH request as a value: `Patch<User>("users/\(login)", body: JSONBody(change))`. See ``Endpoint``.
public struct Patch<Response: Sendable>: RequestDecorator {
    /// The endpoint with its method.
    public let base: Endpoint<Response>

    /// Creates a template.
    ///
    /// - Parameters:
    ///   - path: the path. A path without a slash at its beginning is appended to the path of the base URL.
    ///   - query: the query. Items with the value nil are omitted. Default: none.
    ///   - headers: the headers. Default: none.
    ///   - body: the body. Default: none.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) {
        base = Endpoint(.patch, path, query: query, headers: headers, body: body)
    }
}

/// A DELETE request as a value: `Delete<Void>("users/\(login)")`. See ``Endpoint``.
public struct Delete<Response: Sendable>: RequestDecorator {
    /// The endpoint with its method.
    public let base: Endpoint<Response>

    /// Creates a template.
    ///
    /// - Parameters:
    ///   - path: the path. A path without a slash at its beginning is appended to the path of the base URL.
    ///   - query: the query. Items with the value nil are omitted. Default: none.
    ///   - headers: the headers. Default: none.
    ///   - body: the body. Default: none.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) {
        base = Endpoint(.delete, path, query: query, headers: headers, body: body)
    }
}
