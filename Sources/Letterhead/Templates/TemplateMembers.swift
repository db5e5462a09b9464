public import Foundation

// If the type of a declared member differs from that of the requirement in RequestTemplate, Swift uses the default: a
// template with `var method: String` would send a GET. These protocols have the same requirements with any type, so
// that the builder can refuse such a template. There are several protocols because the compiler tries every combination
// of candidates within one protocol, and a decorator has several candidates for each member.
//
// A requirement with `mutating get async throws` accepts every kind of property: stored, computed, lazy, and with a getter
// that throws or is asynchronous. TemplateGetters.swift finds those whose getter the library cannot call.

/// The members of a template, with their declared types. Do not use its members.
public protocol _TemplateMembers: _AddressMembers, _ContentMembers, _SettingMembers, _FunctionMembers, _Getters,
    _Lookalikes, _Settings
{
    /// The error of a member whose type the library does not support; nil if there is none.
    static var _misfit: String? { get }
    /// The reason why no response can be decoded; nil if one can.
    static var _undecodable: String? { get }
}

/// `path`, `baseURL`, `method` with any type. Do not use its members.
public protocol _AddressMembers {
    /// The declared type of `path`.
    associatedtype _Path = _Unwritten
    /// The declared type of `baseURL`.
    associatedtype _BaseURL = _Unwritten
    /// The declared type of `method`.
    associatedtype _Method = _Unwritten

    /// `path` with any type.
    @_disfavoredOverload var path: _Path { mutating get async throws }
    /// `baseURL` with any type.
    @_disfavoredOverload var baseURL: _BaseURL { mutating get async throws }
    /// `method` with any type.
    @_disfavoredOverload var method: _Method { mutating get async throws }
}

/// `query`, `headers`, `parameters`, `body` with any type. Do not use its members.
public protocol _ContentMembers {
    /// The declared type of `query`.
    associatedtype _Query = _Unwritten
    /// The declared type of `headers`.
    associatedtype _Headers = _Unwritten
    /// The declared type of `parameters`.
    associatedtype _Parameters = _Unwritten
    /// The declared type of `body`, whatever its getter is. It differs from `Body` if the library cannot call the getter.
    associatedtype _Body = _Unwritten

    /// `query` with any type.
    @_disfavoredOverload var query: _Query { mutating get async throws }
    /// `headers` with any type.
    @_disfavoredOverload var headers: _Headers { mutating get async throws }
    /// `parameters` with any type.
    @_disfavoredOverload var parameters: _Parameters { mutating get async throws }
    /// `body` with any type.
    @_disfavoredOverload var body: _Body { mutating get async throws }
}

/// `boundary`, `acceptedStatuses`, `options` with any type. Do not use its members.
public protocol _SettingMembers {
    /// The declared type of `boundary`.
    associatedtype _Boundary = _Unwritten
    /// The declared type of `acceptedStatuses`.
    associatedtype _AcceptedStatuses = _Unwritten
    /// The declared type of `options`.
    associatedtype _Options = _Unwritten

    /// `boundary` with any type.
    @_disfavoredOverload var boundary: _Boundary { mutating get async throws }
    /// `acceptedStatuses` with any type.
    @_disfavoredOverload var acceptedStatuses: _AcceptedStatuses { mutating get async throws }
    /// `options` with any type.
    @_disfavoredOverload var options: _Options { mutating get async throws }
}

/// `decode(_:)` and `finish(_:)` with any result. Do not use its members.
public protocol _FunctionMembers {
    /// The declared result type of `decode(_:)`.
    associatedtype _Decoded = _Unwritten
    /// The declared result type of `finish(_:)`.
    associatedtype _Finished = _Unwritten

    /// `decode(_:)` with any result.
    @_disfavoredOverload func decode(_ response: HTTPResponse) async throws -> _Decoded
    /// `finish(_:)` with any result.
    @_disfavoredOverload func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> _Finished
}

/// Members that resemble those of a template, but that the library does not read. Do not use them.
public protocol _Lookalikes {
    /// The declared type of `timeout`.
    associatedtype _Timeout = _Unwritten
    /// The declared type of `deadline`.
    associatedtype _Deadline = _Unwritten
    /// The declared type of `environment`.
    associatedtype _Environment = _Unwritten
    /// The declared result type of a `decode(_:)` that takes data.
    associatedtype _DecodedFromData = _Unwritten
    /// The declared result type of a `finish(_:)` that takes a result with any error.
    associatedtype _FinishedAny = _Unwritten
    /// The declared result type of a `finish(_:)` that takes a response.
    associatedtype _FinishedResponse = _Unwritten

    /// A setting that only modifiers can set.
    @_disfavoredOverload var timeout: _Timeout { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var deadline: _Deadline { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var environment: _Environment { mutating get async throws }
    /// A function that the library never calls.
    @_disfavoredOverload func decode(_ data: Data) async throws -> _DecodedFromData
    /// A function that the library never calls.
    @_disfavoredOverload func finish(_ result: Result<HTTPResponse, any Error>) async throws -> _FinishedAny
    /// A function that the library never calls.
    @_disfavoredOverload func finish(_ response: HTTPResponse) async throws -> _FinishedResponse
}

// The defaults for templates that declare none of these members.

extension _Lookalikes where _Timeout == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var timeout: _Unwritten { _Unwritten() }
}

extension _Lookalikes where _Deadline == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var deadline: _Unwritten { _Unwritten() }
}

extension _Lookalikes where _Environment == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var environment: _Unwritten { _Unwritten() }
}

extension _Lookalikes where _DecodedFromData == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public func decode(_ data: Data) async throws -> _Unwritten { _Unwritten() }
}

extension _Lookalikes where _FinishedAny == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public func finish(_ result: Result<HTTPResponse, any Error>) async throws -> _Unwritten {
        _Unwritten()
    }
}

extension _Lookalikes where _FinishedResponse == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public func finish(_ response: HTTPResponse) async throws -> _Unwritten { _Unwritten() }
}
