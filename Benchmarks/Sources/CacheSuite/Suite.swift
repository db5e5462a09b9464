// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

/// One check of http-tests/cache-tests: a sequence of requests, the responses of the server, and the expectations.
struct Check: Sendable {
    let id: String
    let suite: String
    let isRequired: Bool
    let steps: [Step]

    /// Reads the checks that concern the private cache of a client and that are judged.
    static func all(in file: URL) throws -> [Check] {
        let suites = try JSONDecoder().decode([JSONValue].self, from: Data(contentsOf: file))
        return suites.flatMap { suite in
            (suite["tests"].list ?? []).compactMap { test -> Check? in
                guard test["browser_skip"] != true, test["cdn_only"] != true, test["kind"] != "check" else {
                    return nil
                }
                return Check(
                    id: test["id"].text ?? "", suite: suite["id"].text ?? "", isRequired: test["kind"] != "optimal",
                    steps: (test["requests"].list ?? []).map { Step(json: $0) })
            }
        }
    }
}

/// One request of a check. Its members have the names of the suite's schema.
struct Step: Sendable {
    let json: JSONValue

    subscript(member: String) -> JSONValue? { json.object?[member] }

    var method: String { self["request_method"]?.text ?? "GET" }
    /// A failure of a setup check does not concern the subject of the check.
    func isSetup(_ member: String) -> Bool {
        self["setup"] == true || (self["setup_tests"]?.list ?? []).contains(.string(member))
    }

    /// The fields of a member: name, value, and whether the value is compared.
    func fields(_ member: String) -> [(name: String, value: JSONValue, isCompared: Bool)] {
        (self[member]?.list ?? []).compactMap { field in
            guard let parts = field.list, parts.count >= 2, let name = parts[0].text else { return nil }
            return (name, parts[1], parts.count < 3 || parts[2] == true)
        }
    }
}

extension JSONValue {
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Int? { if case .int(let number) = self { Int(number) } else { nil } }
    var list: [JSONValue]? { if case .array(let list) = self { list } else { nil } }
}
