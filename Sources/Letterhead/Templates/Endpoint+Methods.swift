// There is a type for each method, so that an API can declare functions for `Get<User>` and for `Post<User>`.

/// A GET request as a value: `Get<User>("users/\(login)")`. See ``Endpoint``.
public struct Get<Response: Sendable>: RequestDecorator {
    /// The endpoint with its method.
    public let base: Endpoint<Response>

    /// Creates a template whose response is decoded.
    ///
    /// - Parameters:
    ///   - path: the path. A path without a slash at its beginning is appended to the path of the base URL.
    ///   - query: the query. Items with the value nil are omitted. Default: none.
    ///   - headers: the headers. Default: none.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:]
    ) where Response: Decodable {
        base = Endpoint(.get, path, query: query, headers: headers)
    }

    /// Creates a template whose response has no value. The body of the response is ignored.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:]
    ) where Response == Void {
        base = Endpoint(.get, path, query: query, headers: headers)
    }

    /// Creates a template that returns the response itself.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:]
    ) where Response == HTTPResponse {
        base = Endpoint(.get, path, query: query, headers: headers)
    }
}

/// An endpoint with a fixed method and a body: ``Post``, ``Put``, ``Patch`` or ``Delete``.
///
/// Conform a custom type to it to send another method in the same way:
///
/// ```swift
/// struct Report<Response: Sendable>: MethodEndpoint {
///     let base: Endpoint<Response>
///     static var fixedMethod: HTTPMethod { "REPORT" }
///     init(base: Endpoint<Response>) { self.base = base }
/// }
///
/// let changes = try await client.send(Report<Changes>("calendars/1", body: JSONBody(filter)))
/// ```
public protocol MethodEndpoint<Response>: RequestDecorator where Base == Endpoint<Response> {
    /// The method of all values of the type.
    static var fixedMethod: HTTPMethod { get }

    /// Wraps an endpoint. Its method is replaced by ``fixedMethod``.
    init(base: Endpoint<Response>)
}

extension MethodEndpoint {
    /// The method of the type.
    public var method: HTTPMethod { Self.fixedMethod }

    /// Creates a template whose response is decoded.
    ///
    /// - Parameters:
    ///   - path: the path. A path without a slash at its beginning is appended to the path of the base URL.
    ///   - query: the query. Items with the value nil are omitted. Default: none.
    ///   - headers: the headers. Default: none.
    ///   - body: the body. Default: none.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response: Decodable {
        self.init(base: Endpoint(Self.fixedMethod, path, query: query, headers: headers, body: body))
    }

    /// Creates a template whose response has no value. The body of the response is ignored.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == Void {
        self.init(base: Endpoint(Self.fixedMethod, path, query: query, headers: headers, body: body))
    }

    /// Creates a template that returns the response itself.
    public init(
        _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == HTTPResponse {
        self.init(base: Endpoint(Self.fixedMethod, path, query: query, headers: headers, body: body))
    }
}

/// A POST request as a value: `Post<User>("users", body: JSONBody(user))`. See ``Endpoint``.
public struct Post<Response: Sendable>: MethodEndpoint {
    /// The endpoint with its method.
    public let base: Endpoint<Response>
    /// The method POST.
    public static var fixedMethod: HTTPMethod { .post }

    /// Wraps an endpoint. Its method is replaced by POST.
    public init(base: Endpoint<Response>) { self.base = base }
}

/// A PUT request as a value: `Put<User>("users/\(login)", body: JSONBody(user))`. See ``Endpoint``.
public struct Put<Response: Sendable>: MethodEndpoint {
    /// The endpoint with its method.
    public let base: Endpoint<Response>
    /// The method PUT.
    public static var fixedMethod: HTTPMethod { .put }

    /// Wraps an endpoint. Its method is replaced by PUT.
    public init(base: Endpoint<Response>) { self.base = base }
}

/// A PATCH request as a value: `Patch<User>("users/\(login)", body: JSONBody(change))`. See ``Endpoint``.
public struct Patch<Response: Sendable>: MethodEndpoint {
    /// The endpoint with its method.
    public let base: Endpoint<Response>
    /// The method PATCH.
    public static var fixedMethod: HTTPMethod { .patch }

    /// Wraps an endpoint. Its method is replaced by PATCH.
    public init(base: Endpoint<Response>) { self.base = base }
}

/// A DELETE request as a value: `Delete<Void>("users/\(login)")`. See ``Endpoint``.
public struct Delete<Response: Sendable>: MethodEndpoint {
    /// The endpoint with its method.
    public let base: Endpoint<Response>
    /// The method DELETE.
    public static var fixedMethod: HTTPMethod { .delete }

    /// Wraps an endpoint. Its method is replaced by DELETE.
    public init(base: Endpoint<Response>) { self.base = base }
}
