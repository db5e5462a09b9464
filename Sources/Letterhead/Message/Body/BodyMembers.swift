public import Foundation

// Swift uses the default of HTTPBody if a body declares a member with a type other than that of the requirement. The
// protocols below have the same members with any type, so that a request with such a body can be refused.

/// The members of a body, with their declared types. Do not use its members.
public protocol _BodyMembers: _BodyProperties, _BodyFunctions, _BodyGetters, _BodyCalls {
    /// Describes a member that would be ignored, because its type or getter differs from the requirement; nil if there
    /// is none.
    var _misfit: String? { get }
}

/// The properties of a body with any type and any getter. Do not use its members.
public protocol _BodyProperties {
    /// The declared type of `isEmpty`.
    associatedtype _IsEmpty = _Unwritten
    /// The declared type of `additionalHeaders`.
    associatedtype _AdditionalHeaders = _Unwritten
    /// The declared type of `contentLength`.
    associatedtype _ContentLength = _Unwritten
    /// The declared type of `isReplayable`.
    associatedtype _IsReplayable = _Unwritten

    /// `isEmpty` with any type.
    @_disfavoredOverload var isEmpty: _IsEmpty { mutating get async throws }
    /// `additionalHeaders` with any type.
    @_disfavoredOverload var additionalHeaders: _AdditionalHeaders { mutating get async throws }
    /// `contentLength` with any type.
    @_disfavoredOverload var contentLength: _ContentLength { mutating get async throws }
    /// `isReplayable` with any type.
    @_disfavoredOverload var isReplayable: _IsReplayable { mutating get async throws }
}

/// The functions of a body with any result. Do not use its members.
public protocol _BodyFunctions {
    /// The declared result of `encode()`.
    associatedtype _Encoded = _Unwritten
    /// The declared result of `chunks()`.
    associatedtype _Chunks = _Unwritten

    /// `encode()` with any result.
    @_disfavoredOverload mutating func encode() async throws -> _Encoded
    /// `chunks()` with any result.
    @_disfavoredOverload mutating func chunks() async throws -> _Chunks
}

/// The properties of a body with getters that the library can call. Do not use its members.
public protocol _BodyGetters {
    /// The type of `isEmpty` if its getter can be called.
    associatedtype _IsEmptyGetter = _Unwritten
    /// The type of `additionalHeaders` if its getter can be called.
    associatedtype _AdditionalHeadersGetter = _Unwritten
    /// The type of `contentLength` if its getter can be called.
    associatedtype _ContentLengthGetter = _Unwritten
    /// The type of `isReplayable` if its getter can be called.
    associatedtype _IsReplayableGetter = _Unwritten

    /// `isEmpty` with a plain getter.
    @_disfavoredOverload var isEmpty: _IsEmptyGetter { get }
    /// `additionalHeaders` with a plain getter.
    @_disfavoredOverload var additionalHeaders: _AdditionalHeadersGetter { get }
    /// `contentLength` with a plain getter.
    @_disfavoredOverload var contentLength: _ContentLengthGetter { get }
    /// `isReplayable` with a plain getter.
    @_disfavoredOverload var isReplayable: _IsReplayableGetter { get }
}

/// The functions of a body that the library can call. Do not use its members.
public protocol _BodyCalls {
    /// The result of `encode()` if it can be called.
    associatedtype _EncodedCall = _Unwritten
    /// The result of `chunks()` if it can be called.
    associatedtype _ChunksCall = _Unwritten

    /// `encode()` as the library calls it.
    @_disfavoredOverload func encode() throws -> _EncodedCall
    /// `chunks()` as the library calls it.
    @_disfavoredOverload func chunks() throws -> _ChunksCall
}

/// The defaults of the members of a body. Do not use it.
public protocol _BodyDefaults: _BodyMembers {
    /// Returns the whole body in memory.
    func encode() throws -> Data
}

/// The placeholders for members that a body does not declare. The compiler prefers a placeholder to a default. It
/// prefers any declaration of a caller to a placeholder and to a default. Do not use this protocol.
public protocol _BodyPlaceholders: _BodyDefaults {}

extension _BodyPlaceholders {
    /// A placeholder for bodies that do not declare this member.
    @_disfavoredOverload public var isEmpty: _Unwritten { _Unwritten() }
    /// A placeholder for bodies that do not declare this member.
    @_disfavoredOverload public var additionalHeaders: _Unwritten { _Unwritten() }
    /// A placeholder for bodies that do not declare this member.
    @_disfavoredOverload public var contentLength: _Unwritten { _Unwritten() }
    /// A placeholder for bodies that do not declare this member.
    @_disfavoredOverload public var isReplayable: _Unwritten { _Unwritten() }
    /// A placeholder for bodies that do not declare this member.
    @_disfavoredOverload public func encode() throws -> _Unwritten { _Unwritten() }
    /// A placeholder for bodies that do not declare this member.
    @_disfavoredOverload public func chunks() throws -> _Unwritten { _Unwritten() }
}

/// The type of a member that a conforming type does not declare.
///
/// The library uses it to find members whose declared type matches no requirement. Do not use it.
public struct _Unwritten: Sendable {
    init() {}
}

/// Reports members that are declared with a type other than that of the requirement of the same name.
enum MemberTypes {
    /// Describes a mistyped member; nil when its type is that of the requirement.
    ///
    /// - Parameters:
    ///   - member: the name of the member.
    ///   - owner: the type that declares it.
    ///   - written: the type with which it is declared.
    ///   - required: the type of the requirement.
    static func misfit(
        _ member: String, of owner: Any.Type, is written: Any.Type, required: Any.Type
    ) -> String? {
        guard written != required, written != _Unwritten.self else { return nil }
        return "the member \(member) of \(owner) is a \(written) and would be ignored: declare it as \(name(required))"
    }

    /// Describes a member that the library cannot call, because its getter or the function has an effect that the
    /// requirement does not have.
    static func unreadable(_ member: String, of owner: Any.Type) -> String {
        let (kind, effects) = member.hasSuffix("()") ? ("it", "asynchronous") : ("its getter", "asynchronous, throws")
        return
            "the member \(member) of \(owner) would be ignored, because \(kind) is \(effects) or is mutating (as that "
            + "of a lazy property is): declare it like the requirement"
    }

    /// Returns the name of a type in Swift syntax: an optional ends in a question mark.
    private static func name(_ type: Any.Type) -> String {
        let name = "\(type)"
        guard name.hasPrefix("Optional<"), name.hasSuffix(">") else { return name }
        return "\(name.dropFirst(9).dropLast())?"
    }
}
