import Foundation

extension RequestTemplate {
    /// The error of a member whose type the library does not support; nil if there is none.
    public static var _misfit: String? { ownMisfit }

    /// The reason why no response can be decoded; nil if one can.
    public static var _undecodable: String? { ownUndecodable }

    fileprivate static var ownMisfit: String? {
        mistypedProperty ?? unreadableMember ?? misplacedSetting ?? declaredSetting ?? mistypedFunction
    }

    fileprivate static var ownUndecodable: String? {
        // A template that implements `decode(_:)` needs no decoder.
        guard _Decoded.self == _Unwritten.self, !ResponseDecoding.canDecode(Response.self) else { return nil }
        return "the Response of \(Self.self), \(Response.self), is not Decodable; implement decode(_:) in the template"
    }

    private static var mistypedProperty: String? {
        misfit("path", _Path.self, RequestPath.self) ?? misfit("method", _Method.self, HTTPMethod.self)
            ?? misfit("headers", _Headers.self, HTTPHeaders.self) ?? misfit("query", _Query.self, QueryParameters.self)
            ?? misfit("parameters", _Parameters.self, RequestParameters.self)
            ?? misfit("baseURL", _BaseURL.self, URL?.self) ?? misfit("boundary", _Boundary.self, String?.self)
            ?? misfit("acceptedStatuses", _AcceptedStatuses.self, HTTPStatusSet?.self)
            ?? misfit("options", _Options.self, HTTPRequestOptions.self)
    }

    /// The error of a member with the name and the type of a setting that templates do not have; nil if there is none.
    /// A member with the same name and another type is unrelated: a `timeout: Int` may be a value for the query.
    private static var misplacedSetting: String? {
        if _Timeout.self == Duration.self || _Timeout.self == Duration?.self {
            return misplaced("timeout", "timeout")
        }
        if _Deadline.self == Duration.self || _Deadline.self == Duration?.self {
            return misplaced("deadline", "deadline")
        }
        if _Environment.self == ServerEnvironment.self || _Environment.self == ServerEnvironment?.self {
            return misplaced("environment", "serverEnvironment")
        }
        return nil
    }

    private static var mistypedFunction: String? {
        if _Decoded.self == _Unwritten.self, _DecodedFromData.self != _Unwritten.self {
            return "decode(_:) of \(Self.self) takes Data and would never be called; declare it with an HTTPResponse"
        }
        if _Decoded.self != _Unwritten.self, _Decoded.self != Response.self {
            return "decode(_:) of \(Self.self) returns \(_Decoded.self) and would never be called; its Response is "
                + "\(Response.self)"
        }
        if _Finished.self != HTTPResponse.self || _FinishedAny.self != _Unwritten.self
            || _FinishedResponse.self != _Unwritten.self
        {
            return "finish(_:) of \(Self.self) would never be called; declare it as "
                + "finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse"
        }
        return nil
    }

    private static func misfit(_ member: String, _ written: Any.Type, _ required: Any.Type) -> String? {
        MemberTypes.misfit(member, of: Self.self, is: written, required: required)
    }

    private static func misplaced(_ member: String, _ option: String) -> String {
        "the member \(member) of \(Self.self) would be ignored, because templates have no such member; write "
            + ".\(member)(…) where the template is sent, or set \(option) in its options"
    }
}

extension RequestDecorator {
    /// The error of a member of the decorator or its base whose type the library does not support; nil if there is
    /// none.
    public static var _misfit: String? { ownMisfit ?? Base._misfit }

    /// The reason why no response can be decoded; nil if one can. A base with another response type is not considered.
    public static var _undecodable: String? {
        ownUndecodable ?? (Base.Response.self == Response.self ? Base._undecodable : nil)
    }
}
