// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The facts that a report collects about one place in the responses of an endpoint.
struct ContractMember: Sendable {
    /// The first type that asked for the value. Nil if the type isn't known, or if none has asked.
    private(set) var type: String?
    private(set) var isAsked = false
    /// Whether a type has checked if the value exists.
    private var isProbed = false
    /// Whether a type has asked for the value without checking if it exists.
    private var isRequired = false
    /// How often a type has asked for the value.
    private(set) var count = 0
    /// The path of the object that contains this member.
    var parent: String?
    /// Whether a type reads all members of this object, by the names that it finds there.
    var isOpen = false
    /// Whether this is an object that decoding has read to its end.
    var isWhole = false
    /// Why the place is only partly visible.
    var remark: String?
    var problems: [ContractProblem: Int] = [:]

    /// Records that a type asks for the value. Pass nil for a container.
    mutating func ask(_ type: Any.Type?) {
        isAsked = true
        if !isProbed { isRequired = true }
        count += 1
        if self.type == nil, let type { self.type = "\(type)" }
    }

    /// Records that a type checks whether the value exists.
    mutating func probe(_ type: Any.Type? = nil) {
        (isAsked, isProbed) = (true, true)
        if self.type == nil, let type { self.type = "\(type)" }
    }

    mutating func add(_ other: ContractMember) {
        type = type ?? other.type
        remark = remark ?? other.remark
        count += other.count
        (isAsked, isRequired) = (isAsked || other.isAsked, isRequired || other.isRequired)
        parent = parent ?? other.parent
        (isOpen, isWhole) = (isOpen || other.isOpen, isWhole || other.isWhole)
        // A server can choose some of the texts, so their number is limited.
        for (problem, count) in other.problems.sorted(by: { $0.key < $1.key })
        where problems[problem] != nil || problems.count < 16 {
            problems[problem, default: 0] += count
        }
    }

    /// What the type demands, such as `required String`.
    var demand: String {
        guard isAsked else { return "unread" }
        return (isRequired ? "required" : "optional") + (type.map { " \($0)" } ?? "")
    }
}

/// Why a value doesn't fit the type that asked for it.
struct ContractProblem: Error, Hashable, Comparable {
    static let absent = ContractProblem(.absent, "absent")

    let kind: ContractReport.Kind
    /// What the response contains instead.
    let text: String

    init(_ kind: ContractReport.Kind, _ text: String) { (self.kind, self.text) = (kind, text) }

    static func < (left: ContractProblem, right: ContractProblem) -> Bool {
        (left.kind.rawValue, left.text) < (right.kind.rawValue, right.text)
    }
}

/// The kind of a value that a type has refused.
struct FoundValue: Decodable {
    private let name: String
    private let text: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try? container.decode(String.self)
        if container.decodeNil() {
            name = "null"
        } else if text != nil {
            name = "a string"
        } else if (try? container.decode(Bool.self)) != nil {
            name = "a boolean"
        } else if (try? container.decode(Double.self)) != nil {
            name = "a number"
        } else {
            name = (try? decoder.unkeyedContainer()) == nil ? "an object" : "an array"
        }
    }

    func problem(of error: any Error, as type: Any.Type, showingValue: Bool) -> ContractProblem {
        // A recording contains placeholders instead of secrets.
        if let text, text.isSame(as: "REDACTED") || text.isSame(as: Redaction.placeholder) {
            return ContractProblem(.partlyVisible, "a redacted value")
        }
        switch error {
        case DecodingError.typeMismatch, DecodingError.valueNotFound: return ContractProblem(.otherType, name)
        default: break
        }
        guard type is any RawRepresentable.Type else {
            return ContractProblem(.otherType, "\(name) that \(type) refuses")
        }
        let value = showingValue ? text.map { " \(ContractPlace.quoted($0, upTo: 40))" } ?? "" : ""
        return ContractProblem(.newValue, value.isEmpty ? "a new value" : "the new value\(value)")
    }
}

/// Values from earlier responses, by type. They replace values that don't fit, so that decoding can continue.
///
/// Only ``Contract``, which runs in tests, keeps samples. ``ContractObserver`` never does, because an app in production
/// must not keep values.
final class ContractSamples: @unchecked Sendable {
    // Only the check that has created the samples uses them, and it decodes one response after the other.
    private var values: [ObjectIdentifier: Any] = [:]

    func keep<Value>(_ value: Value) { values[ObjectIdentifier(Value.self)] = value }

    /// Returns a value of a type: an earlier one, the first case of an enumeration, or an empty one.
    func value<Value: Decodable>(of type: Value.Type) -> Value? {
        if let value = values[ObjectIdentifier(type)] as? Value { return value }
        if let cases = type as? any CaseIterable.Type { return Self.first(of: cases) as? Value }
        return Self.blanks.lazy.compactMap { try? JSONDecoder().decode(type, from: Data($0.utf8)) }.first
    }

    /// Returns whether a type has no members that a report could list, or is one that decoders treat specially.
    static func isLeaf(_ type: Any.Type) -> Bool { leaves.contains(ObjectIdentifier(type)) }

    /// Most types decode one of these documents. The last one is for UUIDs and URLs.
    private static let blanks = [
        "null", "[]", "{}", "\"\"", "0", "false", "\"00000000-0000-0000-0000-000000000000\"",
    ]

    private static let leaves: Set<ObjectIdentifier> = {
        let types: [Any.Type] = [
            String.self, Bool.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
            Int128.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, Decimal.self,
            Data.self, Date.self, URL.self, UUID.self, JSONValue.self,
        ]
        return Set(types.map { ObjectIdentifier($0) })
    }()

    private static func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? { type.allCases.first }
}
