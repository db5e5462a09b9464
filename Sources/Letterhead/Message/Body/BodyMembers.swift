import Foundation

// Swift uses the default of HTTPBody if a body declares a member with a type that the requirement does not have. This
// protocol has the same members with any type, so that a request with such a body can be refused.

/// The members of a body with the types that the body declares for them. Do not use its members.
public protocol _BodyMembers {
    /// Describes a member whose type differs from that of its requirement; nil if all members are correct.
    var _misfit: String? { get }

    /// The declared type of `isEmpty`.
    associatedtype _IsEmpty = _Unwritten
    /// The declared type of `additionalHeaders`.
    associatedtype _AdditionalHeaders = _Unwritten
    /// The declared type of `contentLength`.
    associatedtype _ContentLength = _Unwritten

    /// `isEmpty` with any type.
    @_disfavoredOverload var isEmpty: _IsEmpty { get }
    /// `additionalHeaders` with any type.
    @_disfavoredOverload var additionalHeaders: _AdditionalHeaders { get }
    /// `contentLength` with any type.
    @_disfavoredOverload var contentLength: _ContentLength { get }

    /// The declared type of `isReplayable`.
    associatedtype _IsReplayable = _Unwritten
    /// The declared type of `encode()`.
    associatedtype _Encoded = _Unwritten
    /// The declared type of `chunks()`.
    associatedtype _Chunks = _Unwritten

    /// `isReplayable` with any type.
    @_disfavoredOverload var isReplayable: _IsReplayable { get }
    /// `encode()` with any type.
    @_disfavoredOverload func encode() throws -> _Encoded
    /// `chunks()` with any type.
    @_disfavoredOverload func chunks() throws -> _Chunks
}

extension HTTPBody {
    /// Describes a member whose type differs from that of its requirement; nil if all members are correct.
    public var _misfit: String? {
        MemberTypes.misfit("additionalHeaders", of: Self.self, is: _AdditionalHeaders.self, required: HTTPHeaders.self)
            ?? MemberTypes.misfit("contentLength", of: Self.self, is: _ContentLength.self, required: Int?.self)
            ?? MemberTypes.misfit("isReplayable", of: Self.self, is: _IsReplayable.self, required: Bool.self)
            ?? MemberTypes.misfit("isEmpty", of: Self.self, is: _IsEmpty.self, required: Bool.self)
            ?? MemberTypes.misfit("encode()", of: Self.self, is: _Encoded.self, required: Data.self)
            ?? MemberTypes.misfit("chunks()", of: Self.self, is: _Chunks.self, required: BodyChunks.self)
    }
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

    /// Returns the name of a type in Swift syntax: an optional ends in a question mark.
    private static func name(_ type: Any.Type) -> String {
        let name = "\(type)"
        guard name.hasPrefix("Optional<"), name.hasSuffix(">") else { return name }
        return "\(name.dropFirst(9).dropLast())?"
    }
}
