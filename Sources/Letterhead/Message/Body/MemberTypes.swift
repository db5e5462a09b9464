/// The type of a member that a conforming type does not declare.
///
/// The library uses it to find members that are declared with a type that no requirement has. Do not use it.
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

    /// The name of a type as it is written in code: an optional with its question mark.
    private static func name(_ type: Any.Type) -> String {
        let name = "\(type)"
        guard name.hasPrefix("Optional<"), name.hasSuffix(">") else { return name }
        return "\(name.dropFirst(9).dropLast())?"
    }
}
