// SPDX-License-Identifier: MIT
extension RequestTemplate {
    /// Returns the same template with a type for its error bodies.
    ///
    /// Use it for an endpoint in one line. In a type that you declare, declare its ``RequestTemplate/Failure`` instead.
    /// An alias keeps API endpoints short:
    ///
    /// ```swift
    /// typealias GitHubGet<Response: Sendable> = WithFailure<Get<Response>, GitHubFailure>
    ///
    /// extension RequestTemplate where Self == GitHubGet<User> {
    ///     static func user(_ login: String) -> Self { Get("users/\(login)").failure(as: GitHubFailure.self) }
    /// }
    ///
    /// catch let error as HTTPError { show(error.failure(of: GitHubGet<User>.self)?.message) }
    /// ```
    public func failure<Failure: Decodable & Sendable>(as type: Failure.Type) -> WithFailure<Self, Failure> {
        WithFailure(base: self)
    }
}

/// A template with a type for its error bodies. See ``RequestTemplate/failure(as:)``.
public struct WithFailure<Base: RequestTemplate, Failure: Decodable & Sendable>: RequestDecorator {
    public var base: Base
}

extension WithFailure: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {}
