// SPDX-License-Identifier: MIT
import LetterheadFoundation
public import Letterhead

/// Checks the law of `RequestTemplate` that only a test can check: a member always returns the same value.
///
/// If a getter creates a boundary or an identifier, its value differs between two requests from one template, such as
/// two pages. Write one test for each template that computes such a value. JSON members may change their order, because
/// each load encodes its body only once.
///
/// ```swift
/// @Test func `Upload keeps the laws of a template`() async throws {
///     try await TemplateLaws.check(Upload(picture: picture))
/// }
/// ```
///
/// `RequestTemplate` ignores a member whose name or type differs from its own. To find such a member, use
/// `RequestSnapshot`.
public enum TemplateLaws {
    /// Returns the violated laws. The array is empty if there are none.
    public static func violations(of template: some RequestTemplate) async -> [LawViolation] {
        let first = await TemplateReading(template)
        return await TemplateReading(template).differences(from: first).map {
            LawViolation("stability", $0, "differs between two reads: create it once, when the template is created")
        }
    }

    /// Throws an error if a template violates a law.
    ///
    /// - Throws: ``LawViolations`` with all violations.
    public static func check(_ template: some RequestTemplate) async throws {
        try await violations(of: template).check()
    }
}

/// Template members as exact texts, to compare two templates. The texts contain secrets, so they are never printed.
struct TemplateReading {
    var texts: [TemplateMember: String] = [:]

    /// Reads every property once.
    init<Template: RequestTemplate>(_ template: Template) async {
        texts[.path] = template.path.string
        texts[.baseURL] = template.baseURL?.absoluteString ?? "nil"
        texts[.method] = template.method.rawValue
        texts[.query] = template.query.escaped
        texts[.headers] = Self.text(of: template.headers)
        texts[.parameters] = Self.query(of: template.parameters).escaped
        texts[.body] = await Self.content(of: template.body)
        texts[.boundary] = template.boundary ?? "nil"
        texts[.acceptedStatuses] = "\(template.acceptedStatuses as Any)"
        texts[.options] = "\(template.options[option: LawTemplate.Mark.self] as Any)"
        texts[.failure] = "\(Template.Failure.self)"
        texts[.page] = (template as? any PaginatedTemplate).map { "\($0.page) \($0.position)" } ?? "not paginated"
    }

    /// Returns the members that differ between two readings, in the order of ``TemplateMember``.
    func differences(from other: TemplateReading) -> [TemplateMember] {
        TemplateMember.allCases.filter { texts[$0] != other.texts[$0] }
    }

    /// Returns the query items for parameters.
    static func query(of parameters: RequestParameters) -> QueryParameters {
        var query = QueryParameters()
        parameters.append(to: &query)
        return query
    }

    static func text(of headers: HTTPHeaders) -> String {
        headers.map { "\($0.name.rawValue): \($0.value)" }.joined(separator: "\n")
    }

    private static func content(of body: some Any) async -> String {
        guard let body = body as? any HTTPBody else { return "\(type(of: body)), which is not a body" }
        let start = "\(type(of: body))\n\(text(of: body.additionalHeaders))\n"
        do {
            var data = Data()
            for try await chunk in try body.chunks() { data += chunk }
            // Each encoding can have a different order of JSON members. This is allowed, because a load encodes its
            // body once.
            if let json = try? JSONDecoder().decode(JSONValue.self, from: data) {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                data = try encoder.encode(json)
            }
            return start + data.base64EncodedString()
        } catch {
            return start + "cannot be encoded"
        }
    }
}
