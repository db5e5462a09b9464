// SPDX-License-Identifier: MIT
import Letterhead

/// Compares a JSON value with a larger one.
enum JSONSubset {
    /// Returns the path to the first value in `part` that `whole` doesn't contain, or nil if `whole` contains all.
    static func difference(_ part: JSONValue, in whole: JSONValue, at path: String = "$") -> String? {
        switch (part, whole) {
        case (.object(let members), .object(let others)):
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                guard let other = others[name] else { return "\(path).\(name)" }
                if let difference = difference(value, in: other, at: "\(path).\(name)") { return difference }
            }
            return nil
        case (.array(let elements), .array(let others)):
            guard elements.count == others.count else { return path }
            for index in elements.indices {
                if let difference = difference(elements[index], in: others[index], at: "\(path)[\(index)]") {
                    return difference
                }
            }
            return nil
        default: return part == whole ? nil : path
        }
    }
}
