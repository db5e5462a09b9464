// SPDX-License-Identifier: MIT
public import Letterhead

/// Checks the law of `RequestTemplate` that only a test can find: every read of a member returns the same value.
///
/// A boundary or an identifier that is created while the template is read differs between two requests of one template,
/// such as two pages. The order of the members of a JSON body may differ: each load encodes its body once. Write one test
/// for each template that computes such a value:
///
/// ```swift
/// @Test func `Upload keeps the laws of a template`() async throws {
///     try await TemplateLaws.check(Upload(picture: picture))
/// }
/// ```
///
/// A member that is declared with another type or name than in `RequestTemplate` is found by ``RequestSnapshot``.
public enum TemplateLaws {
    /// Returns the violated laws; an empty array if all laws hold.
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
