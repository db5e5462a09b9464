// SPDX-License-Identifier: MIT
public import Letterhead

/// Checks the `RequestTemplate` law that only a test can find: a member always returns the same value.
///
/// If a getter creates a boundary or an identifier, two requests from one template differ, such as two pages. JSON
/// members may change their order, because each load encodes its body once. Write one test for each template that
/// computes such a value:
///
/// ```swift
/// @Test func `Upload keeps the laws of a template`() async throws {
///     try await TemplateLaws.check(Upload(picture: picture))
/// }
/// ```
///
/// To find a member with another type or name than in `RequestTemplate`, use `RequestSnapshot`.
public enum TemplateLaws {
    /// Returns the violated laws, if any.
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
