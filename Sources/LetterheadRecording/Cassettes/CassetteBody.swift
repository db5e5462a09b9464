// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// A body in a form that can be compared, without secrets and ignored values.
///
/// - JSON has a value for each path, so the order of members doesn't matter.
/// - A form has a string for each index and name.
/// - Multipart boundaries are random, so each is replaced by the same text.
enum CassetteBody: Equatable {
    case none
    case values([[String]: JSONValue])
    case bytes(Data)

    init(_ post: HAR.Content?, ignoring paths: [JSONPath], _ redaction: ArchiveRedaction) {
        self = .none
        guard let post, let data = post.data, !data.isEmpty else { return }
        let type = post.mimeType.flatMap { MediaType($0) }
        let clean = redaction.body(data, mediaType: type, isSecret: false)
        var values: [[String]: JSONValue] = [:]
        if type?.essence == MediaType.form.essence {
            let items = PercentEncoding.formItems(of: String(decoding: clean, as: UTF8.self))
            for (index, item) in items.enumerated() { values[["\(index)", item.name]] = .string(item.value) }
        } else if type?.isMultipart != true, let json = try? JSONDecoder().value(of: JSONValue.self, from: clean) {
            json.collect([], without: paths, into: &values)
        } else {
            self = .bytes(clean.replacingBoundary(type?["boundary"]))
            return
        }
        self = .values(values)
    }

    /// Describes the difference from the body in an entry, or returns nil if the bodies are equal.
    func difference(from entry: CassetteBody) -> String? {
        guard self != entry else { return nil }
        switch (self, entry) {
        case (.values(let sent), .values(let recorded)):
            let paths = Set(sent.keys).union(recorded.keys).filter { sent[$0] != recorded[$0] }
            let path = paths.min { $0.lexicographicallyPrecedes($1) } ?? []
            let steps = path.map { Int($0) == nil ? ".\($0)" : "[\($0)]" }.joined()
            return "the body differs at $\(steps): \(Self.text(sent[path])), not \(Self.text(recorded[path]))"
        case (.bytes(let sent), .bytes(let recorded)):
            let common = zip(sent, recorded).prefix { $0 == $1 }.count
            let rests = [sent, recorded].map { String(decoding: $0.dropFirst(common).prefix(40), as: UTF8.self) }
            return "the body differs after \(common) bytes: \"\(Self.text(rests[0]))\", not \"\(Self.text(rests[1]))\""
        case (.none, _): return "the body is missing"
        case (_, .none): return "the entry has no body"
        default: return "the body differs"
        }
    }

    /// Returns the text of a value, shortened for a message.
    private static func text(_ value: (any CustomStringConvertible)?) -> String {
        let text = value?.description ?? "nothing"
        return Redaction.visible(text.count > 60 ? "\(text.prefix(60))…" : text)
    }
}

extension Data {
    /// Replaces a boundary with `boundary` wherever it occurs.
    func replacingBoundary(_ boundary: String?) -> Data {
        guard let boundary, !boundary.isEmpty else { return self }
        let pieces = pieces(between: Data(boundary.utf8))
        return pieces.dropFirst().reduce(into: pieces[0]) { $0 += Data("boundary".utf8) + $1 }
    }
}

extension JSONValue {
    /// Collects values by their paths, without ignored paths. An object is collected as an empty one. An array is
    /// collected as the number of its elements, or as an empty one if the ignored paths cover all elements.
    fileprivate func collect(_ path: [String], without ignored: [JSONPath], into values: inout [[String]: JSONValue]) {
        guard !ignored.contains(where: { $0.fits(path) }) else { return }
        switch self {
        case .object(let members):
            values[path] = .object([:])
            for (name, member) in members { member.collect(path + [name], without: ignored, into: &values) }
        case .array(let elements):
            let isAll = elements.isEmpty || ignored.contains { $0.fits(path + ["*"]) }
            values[path] = .array(isAll ? [] : [.string("\(elements.count) elements")])
            for index in elements.indices {
                elements[index].collect(path + ["\(index)"], without: ignored, into: &values)
            }
        default: values[path] = self
        }
    }
}

/// A path to values in a JSON body: `$.items[*].id`, `$['a name.with.dots'][0]`.
struct JSONPath {
    /// The names and the indices. A nil step is a `*`, which matches every element or member.
    private(set) var steps: [String?] = []

    func fits(_ path: [String]) -> Bool {
        path.count == steps.count && zip(steps, path).allSatisfy { $0?.isSame(as: $1) ?? true }
    }

    /// Parses a path.
    ///
    /// - Throws: an error that names the path if its form isn't supported.
    init(_ path: String) throws {
        let form = /\.(?<name>[^.\[\]'"]+)|\[(?:(?<index>[0-9]+|\*)|(?<quote>['"])(?<text>(?:\\.|[^\\])*?)\k<quote>)\]/
            .matchingSemantics(.unicodeScalar)
        var rest = path.begins(with: "$") ? Substring(path.utf8.dropFirst()) : ".\(path)"[...]
        repeat {
            guard let step = try form.prefixMatch(in: rest) else {
                throw RecordingError(
                    "ignoredJSONPaths contains \(path), but a path consists of .name, ['name'], [0], [*] and .*")
            }
            let quoted = step.text.map { String($0.replacing(/\\(.)/) { $0.1 }) }
            let plain = String(step.name ?? step.index ?? "")
            steps.append(quoted ?? (plain == "*" ? nil : plain))
            rest = rest[step.range.upperBound...]
        } while !rest.isEmpty
    }
}
