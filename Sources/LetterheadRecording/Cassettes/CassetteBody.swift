// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// A body in a form to compare, without secrets and ignored values: JSON members have no order, and a boundary isn't
/// random.
enum CassetteBody: Equatable {
    case none
    case json(JSONValue)
    case bytes(Data)

    init(_ post: HAR.Content?, ignoring paths: [JSONPath], _ redaction: ArchiveRedaction) {
        self = .none
        guard let post, let data = post.data, !data.isEmpty else { return }
        let type = post.mimeType.flatMap { MediaType($0) }
        let clean = redaction.body(data, mediaType: type, isSecret: false)
        if type?.essence == MediaType.form.essence {
            let items = PercentEncoding.formItems(of: String(decoding: clean, as: UTF8.self))
            let text = items.map {
                "\(PercentEncoding.escape($0.name, .form))=\(PercentEncoding.escape($0.value, .form))"
            }
            self = .bytes(Data(text.joined(separator: "&").utf8))
            return
        }
        guard type?.isMultipart != true, var json = try? JSONDecoder().value(of: JSONValue.self, from: clean) else {
            self = .bytes(clean.replacingBoundary(type?["boundary"]))
            return
        }
        for path in paths { json.remove(path.steps[...]) }
        self = .json(json)
    }

    /// Describes the difference from an entry's body, or returns nil if the bodies are equal.
    func difference(from entry: CassetteBody) -> String? {
        guard self != entry else { return nil }
        switch (self, entry) {
        case (.json(let sent), .json(let recorded)):
            let (path, sent, recorded) = sent.difference(from: recorded) ?? ("", sent, recorded)
            return "the body differs at $\(path): \(Self.text(sent)), not \(Self.text(recorded))"
        case (.bytes(let sent), .bytes(let recorded)):
            let common = zip(sent, recorded).prefix { $0 == $1 }.count
            let (here, there) = (Self.text(sent.dropFirst(common)), Self.text(recorded.dropFirst(common)))
            return "the body differs after \(common) bytes: \"\(here)\", not \"\(there)\""
        case (.none, _): return "the body is missing"
        case (_, .none): return "the entry has no body"
        default: return "the body differs"
        }
    }

    private static func text(_ rest: Data) -> String {
        Redaction.visible(String(decoding: rest.prefix(40), as: UTF8.self))
    }

    /// A value, shortened for a message.
    private static func text(_ value: JSONValue?) -> String {
        guard let value else { return "nothing" }
        guard let data = try? JSONEncoder().encode(value) else { return "a value" }
        let text = String(decoding: data, as: UTF8.self)
        return text.count > 60 ? "\(text.prefix(60))…" : text
    }
}

extension Data {
    /// Replaces a boundary with `boundary` wherever it occurs.
    func replacingBoundary(_ boundary: String?) -> Data {
        guard let boundary, !boundary.isEmpty else { return self }
        let (old, new) = (Data(boundary.utf8), Data("boundary".utf8))
        var (output, rest) = (Data(), self[...])
        while let found = rest.position(of: old) {
            output += rest[..<found.lowerBound] + new
            rest = rest[found.upperBound...]
        }
        return output + rest
    }
}

extension JSONValue {
    /// Removes the values at a path.
    fileprivate mutating func remove(_ steps: ArraySlice<String?>) {
        guard let step = steps.first else { return }
        let rest = steps.dropFirst()
        switch self {
        case .object(var members):
            for name in members.keys where step?.isSame(as: name) ?? true {
                if rest.isEmpty { members[name] = nil } else { members[name]?.remove(rest) }
            }
            self = .object(members)
        case .array(var elements):
            if rest.isEmpty, step == nil { elements = [] }
            for index in elements.indices where step?.isSame(as: "\(index)") ?? true {
                if rest.isEmpty { elements[index] = .null } else { elements[index].remove(rest) }
            }
            self = .array(elements)
        default: break
        }
    }

    /// Returns the path to the first difference, and both values there. Returns nil if the values are equal.
    fileprivate func difference(from other: JSONValue) -> (path: String, here: JSONValue?, there: JSONValue?)? {
        switch (self, other) {
        case (.object(let here), .object(let there)):
            for name in Set(here.keys).union(there.keys).sorted() {
                guard let value = here[name], let other = there[name] else {
                    return (".\(name)", here[name], there[name])
                }
                if let found = value.difference(from: other) {
                    return (".\(name)\(found.path)", found.here, found.there)
                }
            }
            return nil
        case (.array(let here), .array(let there)) where here.count == there.count:
            for index in here.indices {
                let found = here[index].difference(from: there[index])
                if let found { return ("[\(index)]\(found.path)", found.here, found.there) }
            }
            return nil
        default: return self == other ? nil : ("", self, other)
        }
    }
}

/// A path to values in a JSON body: `$.items[*].id`, `$['a name.with.dots'][0]`.
struct JSONPath {
    /// The names and the indices. Nil stands for every element or member.
    private(set) var steps: [String?] = []

    /// - Throws: an error that names the path if it has another form.
    init(_ path: String) throws {
        let form = /\.(?<name>[^.\[\]'"]+)|\[(?:(?<index>[0-9]+|\*)|(?<quote>['"])(?<text>(?:\\.|[^\\])*?)\k<quote>)\]/
            .matchingSemantics(.unicodeScalar)
        var rest = path.begins(with: "$") ? path.dropFirst() : ".\(path)"[...]
        repeat {
            guard let step = try form.prefixMatch(in: rest) else {
                throw ArchiveFailure(
                    "ignoredJSONPaths contains \(path), but a path consists of .name, ['name'], [0], [*] and .*")
            }
            let quoted = step.text.map { String($0.replacing(/\\(.)/) { $0.1 }) }
            let plain = String(step.name ?? step.index ?? "")
            steps.append(quoted ?? (plain == "*" ? nil : plain))
            rest = rest[step.range.upperBound...]
        } while !rest.isEmpty
    }
}
