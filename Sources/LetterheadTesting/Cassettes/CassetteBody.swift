// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import LetterheadObserving

extension ComparedBody {
    /// A recorded request's body, without secrets and ignored values.
    init(_ request: HAR.Request, _ ignoredPaths: Set<String>, _ redaction: ArchiveRedaction) {
        self = .none
        guard let post = request.postData, let data = post.data, !data.isEmpty else { return }
        let type = post.mimeType.flatMap { MediaType($0) }
        self = ComparedBody(redaction.body(data, mediaType: type, isSecret: false), type)
        guard case .json(var json) = self else { return }
        for path in ignoredPaths { json.remove(Self.steps(of: path)[...]) }
        self = .json(json)
    }

    /// Describes the difference from an entry's body, or returns nil if the bodies are equal.
    func difference(from entry: ComparedBody) -> String? {
        guard self != entry else { return nil }
        switch (self, entry) {
        case (.json(let sent), .json(let recorded)):
            let path =
                JSONSubset.difference(recorded, in: sent) ?? JSONSubset.difference(sent, in: recorded) ?? "$"
            return "the body differs at \(path): \(sent.text(at: path)), not \(recorded.text(at: path))"
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

    /// Splits a path into steps: `$.items[*].id` has the steps `items`, `*`, `id`.
    static func steps(of path: String) -> [String] {
        path.split { ".[]".contains($0) }.map(String.init).filter { $0 != "$" }
    }
}

extension JSONValue {
    /// Removes the values at a path. The step `*` means every element or member.
    fileprivate mutating func remove(_ steps: ArraySlice<String>) {
        guard let step = steps.first else { return }
        let rest = steps.dropFirst()
        switch self {
        case .object(var members):
            for name in members.keys where step == "*" || step == name {
                if rest.isEmpty { members[name] = nil } else { members[name]?.remove(rest) }
            }
            self = .object(members)
        case .array(var elements):
            if rest.isEmpty, step == "*" { elements = [] }
            for index in elements.indices where step == "*" || step == "\(index)" {
                if rest.isEmpty { elements[index] = .null } else { elements[index].remove(rest) }
            }
            self = .array(elements)
        default: break
        }
    }

    /// The value at a path, shortened for a message.
    fileprivate func text(at path: String) -> String {
        var value: JSONValue? = self
        for step in ComparedBody.steps(of: path) {
            if case .array(let elements)? = value, let index = Int(step) {
                value = elements.indices.contains(index) ? elements[index] : nil
            } else {
                value = value?[step]
            }
        }
        guard let value else { return "nothing" }
        guard let data = try? JSONEncoder().encode(value) else { return "a value" }
        let text = String(decoding: data, as: UTF8.self)
        return text.count > 60 ? "\(text.prefix(60))…" : text
    }
}
