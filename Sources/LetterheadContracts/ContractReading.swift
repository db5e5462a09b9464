// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// What one decoding asks of one document: the members, their types, and which of them are missing or don't fit.
///
/// The response decoder reads the document as in production, with its strategies for dates and keys. It decodes a
/// ``ContractRoot``, which finds the reading in ``current``, and passes each type a decoder that forwards to the
/// original one.
final class ContractReading: @unchecked Sendable {
    // Decoding is synchronous, so only one thread at a time uses a reading.
    @TaskLocal static var current: ContractReading?

    /// The depth to which values are read. It limits the stack that a recursive type uses.
    private static let maximumDepth = 64
    private static let mostMembers = 10_000

    /// A value that a type refused, or a member that is missing.
    struct Failure {
        let path: String
        let problem: ContractProblem
    }

    /// The values that replace those that don't fit. Nil if no value may be replaced or kept.
    private let samples: ContractSamples?
    /// The places where a value is replaced, so that decoding continues.
    private let replaced: Set<String>
    private(set) var members: [String: ContractMember] = [:]
    /// The failures that no type has handled.
    private(set) var failures: [Failure] = []
    /// How often types have asked for a container. A type that hasn't changed the number has read no members.
    var requests = 0
    /// The place where the next type is decoded.
    private var place = ContractPlace()

    init(_ samples: ContractSamples? = nil, replacing replaced: Set<String> = []) {
        (self.samples, self.replaced) = (samples, replaced)
    }

    /// Creates the reading for a response that the template has decoded with a custom `decode(_:)`.
    convenience init(ofCustomDecoding type: Any.Type) {
        self.init()
        note("$") { member in
            member.ask(type)
            member.remark = "the template decodes the body itself"
        }
    }

    /// Changes the facts about a place. If the limit is reached, a new place is left out.
    func note(_ path: String, upTo limit: Int = mostMembers, _ change: (inout ContractMember) -> Void) {
        guard members[path] != nil || members.count < limit else { return }
        change(&members[path, default: ContractMember()])
    }

    /// Records the members of an object. They use at most half of the limit, so that there is room for members that
    /// types ask for.
    func list(_ names: [some CodingKey], at place: ContractPlace) {
        note(place.path) { $0.isWhole = true }
        for name in names { note(place.member(name).path, upTo: Self.mostMembers / 2) { $0.parent = place.path } }
    }

    func isOpen(_ place: ContractPlace) -> Bool { members[place.path]?.isOpen == true }

    /// Reads a value for a type that asks for it.
    ///
    /// - Parameter isNested: whether a different type has already asked for the value at this place. Default: false.
    func read<Value: Decodable>(
        _ type: Value.Type, at place: ContractPlace, from slot: some ContractSlot, isNested: Bool = false
    ) throws -> Value {
        if !isNested { note(place.path) { $0.ask(type) } }
        let count = failures.count
        self.place = place
        do {
            if ContractSamples.isLeaf(type) { return try slot.decode(type) }
            if let keyed = type as? any StringKeyed.Type, let value = try keyed.read(self, place, slot) as? Value {
                return value
            }
            return try slot.decode(Recorded<Value>.self).value
        } catch {
            if failures.count == count {
                failures.append(Failure(path: place.path, problem: problem(of: error, as: type, at: place, slot)))
            }
            guard let failure = failures.last, failure.path == place.path, replaced.contains(place.path),
                let value = samples?.value(of: type)
            else { throw error }
            failures.removeLast()
            note(place.path) { $0.problems[failure.problem, default: 0] += 1 }
            return value
        }
    }

    /// Ends the reading with an error that no type has handled, and returns the place that caused it.
    func end(_ root: Any.Type, _ mediaType: MediaType?, isEmpty: Bool) -> String {
        // If nothing was asked for, the decoder has failed before it decoded the type.
        if members.isEmpty { note("$") { $0.ask(root) } }
        let type = mediaType.map { " (\(ContractPlace.quoted($0.essence, upTo: 40)))" } ?? ""
        let problem = ContractProblem(
            .undecodable, isEmpty ? "an empty body" : "a body that the decoder can't read\(type)")
        let failure = failures.last ?? Failure(path: "$", problem: problem)
        note(failure.path) {
            $0.problems[failure.problem, default: 0] += 1
            $0.remark = $0.remark ?? "decoding ends here, so what follows isn't checked"
        }
        for path in members.keys where failure.path.begins(with: path) { note(path) { $0.isWhole = false } }
        return failure.path
    }

    /// Opens a nested container. If that fails, records that the value isn't an object or an array, as the type
    /// expects.
    func nested<Container>(
        at place: ContractPlace, _ slot: some ContractSlot, _ open: () throws -> Container
    ) throws -> Container {
        note(place.path) { $0.ask(nil) }
        do { return try open() } catch {
            let problem = problem(of: error, as: [String: String].self, at: place, slot)
            failures.append(Failure(path: place.path, problem: problem))
            throw error
        }
    }

    /// Decodes a type at the current place, with a decoder that records what the type asks for.
    fileprivate func decode<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        let (place, count, earlier) = (place, failures.count, requests)
        defer { self.place = place }
        guard place.depth <= Self.maximumDepth else {
            throw ContractProblem(.undecodable, "a value that is nested more than \(Self.maximumDepth) levels deep")
        }
        if ContractSamples.isLeaf(type) {
            // This is a value in a dictionary. It is decoded by its container, because the decoder strategies would not
            // apply if the type decoded itself.
            let slot = SingleSlot(container: try decoder.singleValueContainer())
            return try read(type, at: place, from: slot, isNested: true)
        }
        let value = try Value(from: ContractDecoder(base: decoder, place: place, reading: self))
        // This happens only in tests. In production, names that no type looks at may be values, such as addresses, so
        // they aren't recorded.
        if samples != nil, requests == earlier, let members = try? decoder.container(keyedBy: AnyName.self) {
            list(members.allKeys, at: place)
        }
        if failures.count > count {
            // Some members have failed, but the type has succeeded in a different way.
            failures.removeSubrange(count...)
            note(place.path) { $0.remark = "\(type) handles errors of its members" }
        }
        samples?.keep(value)
        return value
    }

    fileprivate func decodeValues<Value: Decodable>(
        _ type: Value.Type, at place: ContractPlace, from slot: some ContractSlot
    ) throws -> [String: Value] {
        self.place = place.anyMember
        note(place.anyMember.path) { $0.ask(type) }
        return try slot.decode([String: Recorded<Value>].self).mapValues(\.value)
    }

    private func problem(
        of error: any Error, as type: Any.Type, at place: ContractPlace, _ slot: some ContractSlot
    ) -> ContractProblem {
        if let problem = error as? ContractProblem { return problem }
        if case DecodingError.keyNotFound = error { return .absent }
        let found = try? slot.decode(FoundValue.self)
        let isKept = samples != nil && !Redaction.standard.isSecret(parameter: place.name)
        return found?.problem(of: error, as: type, showingValue: isKept) ?? .absent
    }
}

/// A place in a document, such as `$.items[*].id`. All elements of an array share one place.
struct ContractPlace {
    /// The maximum length of a path and of a name, in bytes.
    private static let (longestPath, longestName) = (1_024, 64)

    private(set) var path = "$"
    private(set) var name = ""
    private(set) var depth = 0

    /// The place that the elements of an array share.
    var element: ContractPlace { appending("[*]", name) }

    /// The place that the values of an object with arbitrary names share.
    var anyMember: ContractPlace { appending(".*", name) }

    func member(_ key: some CodingKey) -> ContractPlace {
        let name = key.stringValue
        let isPlain = name.utf8.count <= Self.longestName && !name.isEmpty && name.utf8.allSatisfy(Self.isPlain)
        return appending(isPlain ? ".\(name)" : "[\(Self.quoted(name, upTo: Self.longestName))]", name)
    }

    private func appending(_ step: String, _ name: String) -> ContractPlace {
        var place = self
        place.depth += 1
        place.name = name
        if path.utf8.count + step.utf8.count <= Self.longestPath { place.path += step }
        return place
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// Returns a text from a server in quotation marks, on one line and shortened to a limit.
    static func quoted(_ text: String, upTo limit: Int) -> String {
        "\"\(visible(text, upTo: limit).replacingBytes(of: "\"", with: "\\\""))\""
    }

    /// Returns a text from a server on one line, shortened to a number of Unicode scalars.
    static func visible(_ text: String, upTo limit: Int = 200) -> String {
        let beginning = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
        return Redaction.visible(beginning) + (beginning.utf8.count < text.utf8.count ? "…" : "")
    }
}

/// Decodes a type for the reading in ``ContractReading/current``, and then discards the value.
struct ContractRoot<Value: Decodable>: Decodable, Sendable {
    init(from decoder: any Decoder) throws {
        guard let reading = ContractReading.current else { return }
        let slot = SingleSlot(container: try decoder.singleValueContainer())
        _ = try reading.read(Value.self, at: ContractPlace(), from: slot, isNested: !reading.members.isEmpty)
    }
}

/// A wrapper that decodes a type with a decoder that records what the type asks for.
struct Recorded<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try ContractReading.current?.decode(Value.self, from: decoder) ?? Value(from: decoder)
    }
}

/// A dictionary. Decoders don't apply key strategies to dictionaries, so the decoder must recognize the type as one.
private protocol StringKeyed {
    static func read(_ reading: ContractReading, _ place: ContractPlace, _ slot: some ContractSlot) throws -> Any
}

extension Dictionary: StringKeyed where Key == String, Value: Decodable {
    fileprivate static func read(
        _ reading: ContractReading, _ place: ContractPlace, _ slot: some ContractSlot
    ) throws -> Any {
        try reading.decodeValues(Value.self, at: place, from: slot)
    }
}
