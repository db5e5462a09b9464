public import Foundation

// Swift uses the default of RequestTemplate when a member is declared with another type than the requirement has: a
// `var method: String` would be a GET. These protocols repeat the requirements with any type, so that the builder can refuse
// such a template. They are several because the compiler tries every combination of candidates within one protocol, and a
// decorator has two for each member.

/// The members of a template with the types with which they are declared. Do not use its members.
public protocol _TemplateMembers: _AddressMembers, _ContentMembers, _SettingMembers, _FunctionMembers, _Lookalikes,
    _Settings
{
    /// Which member has a type that the library does not read; nil when all can be read.
    static var _misfit: String? { get }
    /// Why no response can be decoded; nil when one can.
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
    @_disfavoredOverload var path: _Path { get }
    /// `baseURL` with any type.
    @_disfavoredOverload var baseURL: _BaseURL { get }
    /// `method` with any type.
    @_disfavoredOverload var method: _Method { get }
}

/// `query`, `headers`, `parameters` with any type. Do not use its members.
public protocol _ContentMembers {
    /// The declared type of `query`.
    associatedtype _Query = _Unwritten
    /// The declared type of `headers`.
    associatedtype _Headers = _Unwritten
    /// The declared type of `parameters`.
    associatedtype _Parameters = _Unwritten

    /// `query` with any type.
    @_disfavoredOverload var query: _Query { get }
    /// `headers` with any type.
    @_disfavoredOverload var headers: _Headers { get }
    /// `parameters` with any type.
    @_disfavoredOverload var parameters: _Parameters { get }
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
    @_disfavoredOverload var boundary: _Boundary { get }
    /// `acceptedStatuses` with any type.
    @_disfavoredOverload var acceptedStatuses: _AcceptedStatuses { get }
    /// `options` with any type.
    @_disfavoredOverload var options: _Options { get }
}

/// `decode(_:)` and `finish(_:)` with any result. Do not use its members.
public protocol _FunctionMembers {
    /// What `decode(_:)` is declared to return.
    associatedtype _Decoded = _Unwritten
    /// What `finish(_:)` is declared to return.
    associatedtype _Finished = _Unwritten

    /// `decode(_:)` with any result.
    @_disfavoredOverload func decode(_ response: HTTPResponse) async throws -> _Decoded
    /// `finish(_:)` with any result.
    @_disfavoredOverload func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> _Finished
}

/// Members that look like those of a template and are not. Do not use them.
public protocol _Lookalikes {
    /// The declared type of `timeout`.
    associatedtype _Timeout = _Unwritten
    /// The declared type of `deadline`.
    associatedtype _Deadline = _Unwritten
    /// The declared type of `environment`.
    associatedtype _Environment = _Unwritten
    /// What a `decode(_:)` of data is declared to return.
    associatedtype _DecodedFromData = _Unwritten
    /// What a `finish(_:)` of a result with any error is declared to return.
    associatedtype _FinishedAny = _Unwritten
    /// What a `finish(_:)` of a response is declared to return.
    associatedtype _FinishedResponse = _Unwritten

    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var timeout: _Timeout { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var deadline: _Deadline { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var environment: _Environment { get }
    /// The library never calls it.
    @_disfavoredOverload func decode(_ data: Data) async throws -> _DecodedFromData
    /// The library never calls it.
    @_disfavoredOverload func finish(_ result: Result<HTTPResponse, any Error>) async throws -> _FinishedAny
    /// The library never calls it.
    @_disfavoredOverload func finish(_ response: HTTPResponse) async throws -> _FinishedResponse
}

// What stands for a template that declares none of them.

extension _Lookalikes where _Timeout == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var timeout: _Unwritten { _Unwritten() }
}

extension _Lookalikes where _Deadline == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var deadline: _Unwritten { _Unwritten() }
}

extension _Lookalikes where _Environment == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var environment: _Unwritten { _Unwritten() }
}

extension _Lookalikes where _DecodedFromData == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public func decode(_ data: Data) async throws -> _Unwritten { _Unwritten() }
}

extension _Lookalikes where _FinishedAny == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public func finish(_ result: Result<HTTPResponse, any Error>) async throws -> _Unwritten {
        _Unwritten()
    }
}

extension _Lookalikes where _FinishedResponse == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public func finish(_ response: HTTPResponse) async throws -> _Unwritten { _Unwritten() }
}
