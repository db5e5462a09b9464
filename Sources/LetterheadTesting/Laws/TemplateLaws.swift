public import Letterhead

/// Checks the laws of `RequestTemplate`.
///
/// Write one test for each custom template, with the path of the file that declares it, or of a folder with all
/// templates:
///
/// ```swift
/// @Test func `GetUser keeps the laws of a template`() async throws {
///     try await TemplateLaws.check(GetUser(login: "ada"), sources: "\(packageFolder)/Sources/API")
/// }
/// ```
///
/// The laws:
/// - **Types**: a member with the name of a requirement of the protocol has the type of that requirement. The builder
///   refuses a template with a member such as `headers: [String: String]`; this check reports all such members at once.
///   It finds stored members by reflection. It finds computed members in the source, so their types must be spelled as
///   in the protocol.
/// - **Stability**: every read of a member returns the same value.
public enum TemplateLaws {
    /// Returns the violated laws; an empty array if all laws hold.
    ///
    /// - Parameters:
    ///   - template: a value of the template's type.
    ///   - sources: the path of the Swift file that declares the template, such as `#filePath`, or of a folder, which
    ///     may contain extensions in other files. Default: nil (computed members are not checked).
    /// - Throws: the error of reading the sources.
    public static func violations(
        of template: some RequestTemplate, sources: String? = nil
    ) async throws -> [LawViolation] {
        var found = await stability(template) + storedTypes(template)
        if let sources { found += try writtenTypes(of: template, sources: sources) }
        var seen = Set<TemplateMember?>()
        return found.filter { $0.law != "types" || seen.insert($0.member).inserted }
    }

    /// Throws an error if a template violates a law.
    ///
    /// - Parameters:
    ///   - template: a value of the template's type.
    ///   - sources: the path of the Swift file that declares the template, or of a folder. Default: nil (computed
    ///     members are not checked).
    /// - Throws: ``LawViolations`` with all violations, or the error of reading the sources.
    public static func check(_ template: some RequestTemplate, sources: String? = nil) async throws {
        let violations = try await violations(of: template, sources: sources)
        if !violations.isEmpty { throw LawViolations(violations) }
    }

    private static func stability(_ template: some RequestTemplate) async -> [LawViolation] {
        let first = await TemplateReading(template)
        return await TemplateReading(template).differences(from: first).map {
            LawViolation(
                law: "stability", member: $0,
                reason: "differs between two reads: create it once, when the template is created")
        }
    }
}
