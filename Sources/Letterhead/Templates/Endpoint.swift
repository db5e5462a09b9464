// SPDX-License-Identifier: MIT
/// An endpoint that needs no separate type.
///
/// ```swift
/// extension RequestTemplate where Self == Get<User> {
///     static func user(_ login: String) -> Self { Get("users/\(login)") }
/// }
///
/// let ada = try await client.send(.user("ada").timeout(.seconds(5)))
/// let options = try await client.send(Endpoint<HTTPResponse>(.options, "users"))
/// ```
///
/// Use ``Get``, ``Post``, ``Put``, ``Patch`` and ``Delete`` for these methods, and `Endpoint` itself for any other
/// method. Declare API endpoints as static functions, and pass their results to a client.
///
/// The response is a `Decodable` type, `Void` or ``HTTPResponse``. For custom decoding, declare a type that conforms to
/// ``RequestTemplate``. To read the bodies of error responses, use ``HTTPError/failure(as:)``, or declare their type
/// with ``RequestTemplate/failure(as:)``.
public struct Endpoint<Response: Sendable>: RequestTemplate {
    public let method: HTTPMethod
    public let path: RequestPath
    public let query: QueryParameters
    public let headers: HTTPHeaders
    public let body: any HTTPBody
    /// The initializers choose the decoding, because only the compiler can see whether a conformance to `Decodable` is
    /// isolated to an actor.
    private let decoding: @Sendable (HTTPResponse) async throws -> Response

    /// Creates an endpoint with a `Decodable` response. A path without a leading slash is appended to the base URL
    /// path, and query items with the value nil are omitted.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response: Decodable {
        self.init(method, path, query, headers, body) { try await ResponseDecoding.decode(Response.self, from: $0) }
    }

    /// Creates an endpoint without a value. The response body is ignored.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == Void {
        self.init(method, path, query, headers, body) { _ in }
    }

    /// Creates an endpoint that returns the response itself, without decoding it.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == HTTPResponse {
        self.init(method, path, query, headers, body) { $0 }
    }

    private init(
        _ method: HTTPMethod, _ path: RequestPath, _ query: QueryParameters, _ headers: HTTPHeaders,
        _ body: any HTTPBody, decoding: @escaping @Sendable (HTTPResponse) async throws -> Response
    ) {
        (self.method, self.path, self.query, self.headers, self.body) = (method, path, query, headers, body)
        self.decoding = decoding
    }

    public func decode(_ response: HTTPResponse) async throws -> Response { try await decoding(response) }
}

// Each method has a type, so that an API can declare functions for `Get<User>` and for `Post<User>`.

/// A GET request as a value: `Get<User>("users/\(login)")`. See ``Endpoint``.
public struct Get<Response: Sendable>: RequestDecorator {
    public let base: Endpoint<Response>

    /// Creates a request with a `Decodable` response. A path without a leading slash is appended to the base URL path,
    /// and query items with the value nil are omitted.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:]
    ) where Response: Decodable {
        base = Endpoint(.get, path, query: query, headers: headers)
    }

    /// Creates a request without a value. The response body is ignored.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:]
    ) where Response == Void {
        base = Endpoint(.get, path, query: query, headers: headers)
    }

    /// Creates a request that returns the response itself, without decoding it.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:]
    ) where Response == HTTPResponse {
        base = Endpoint(.get, path, query: query, headers: headers)
    }

    /// Creates a request with a `Decodable` response from a URI template, which expands to a path and a query. For
    /// other methods and responses, expand them separately:
    /// `Post<Void>(template.path(values), query: template.query(values))`.
    public init(
        _ template: URITemplate, _ values: URITemplate.Values, headers: HTTPHeaders = [:]
    ) where Response: Decodable {
        base = Endpoint(.get, template.path(values), query: template.query(values), headers: headers)
    }
}

/// A POST request as a value: `Post<User>("users", body: JSONBody(user))`. See ``Endpoint``.
public struct Post<Response: Sendable>: RequestDecorator {
    public let base: Endpoint<Response>

    /// Creates a request with a `Decodable` response. A path without a leading slash is appended to the base URL path,
    /// and query items with the value nil are omitted.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response: Decodable {
        base = Endpoint(.post, path, query: query, headers: headers, body: body)
    }

    /// Creates a request without a value. The response body is ignored.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == Void {
        base = Endpoint(.post, path, query: query, headers: headers, body: body)
    }

    /// Creates a request that returns the response itself, without decoding it.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == HTTPResponse {
        base = Endpoint(.post, path, query: query, headers: headers, body: body)
    }
}

/// A PUT request as a value: `Put<User>("users/\(login)", body: JSONBody(user))`. See ``Endpoint``.
public struct Put<Response: Sendable>: RequestDecorator {
    public let base: Endpoint<Response>

    /// Creates a request with a `Decodable` response. A path without a leading slash is appended to the base URL path,
    /// and query items with the value nil are omitted.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response: Decodable {
        base = Endpoint(.put, path, query: query, headers: headers, body: body)
    }

    /// Creates a request without a value. The response body is ignored.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == Void {
        base = Endpoint(.put, path, query: query, headers: headers, body: body)
    }

    /// Creates a request that returns the response itself, without decoding it.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == HTTPResponse {
        base = Endpoint(.put, path, query: query, headers: headers, body: body)
    }
}

/// A PATCH request as a value: `Patch<User>("users/\(login)", body: JSONBody(change))`. See ``Endpoint``.
public struct Patch<Response: Sendable>: RequestDecorator {
    public let base: Endpoint<Response>

    /// Creates a request with a `Decodable` response. A path without a leading slash is appended to the base URL path,
    /// and query items with the value nil are omitted.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response: Decodable {
        base = Endpoint(.patch, path, query: query, headers: headers, body: body)
    }

    /// Creates a request without a value. The response body is ignored.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == Void {
        base = Endpoint(.patch, path, query: query, headers: headers, body: body)
    }

    /// Creates a request that returns the response itself, without decoding it.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == HTTPResponse {
        base = Endpoint(.patch, path, query: query, headers: headers, body: body)
    }
}

/// A DELETE request as a value: `Delete<Void>("users/\(login)")`. See ``Endpoint``.
public struct Delete<Response: Sendable>: RequestDecorator {
    public let base: Endpoint<Response>

    /// Creates a request with a `Decodable` response. A path without a leading slash is appended to the base URL path,
    /// and query items with the value nil are omitted.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response: Decodable {
        base = Endpoint(.delete, path, query: query, headers: headers, body: body)
    }

    /// Creates a request without a value. The response body is ignored.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == Void {
        base = Endpoint(.delete, path, query: query, headers: headers, body: body)
    }

    /// Creates a request that returns the response itself, without decoding it.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == HTTPResponse {
        base = Endpoint(.delete, path, query: query, headers: headers, body: body)
    }
}
