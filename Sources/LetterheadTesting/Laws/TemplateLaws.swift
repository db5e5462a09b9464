public import Letterhead

/// Checks that a template keeps the laws of `RequestTemplate`.
///
/// Use: one test for each template of your own, with the path of the file that declares it, or of a folder with all of
/// them:
///
/// ```swift
/// @Test func `GetUser keeps the laws of a template`() async throws {
///     try await TemplateLaws.check(GetUser(login: "ada"), sources: "\(packageFolder)/Sources/API")
/// }
/// ```
///
/// The laws: **types**: a member has the type of the requirement of the same name. The builder refuses a template with a
/// `headers: [String: String]`; this check reports all such members at once. A stored member is found on the instance. A
/// computed member is found in the source, where its type must be spelled as the requirement spells it. **Stability**:
/// every read of a member returns the same.
public enum TemplateLaws {
    /// The laws that a template breaks; empty when it keeps them all.
    ///
    /// - Parameters:
    ///   - template: any value of its type.
    ///   - sources: the path of the Swift file that declares it, such as `#filePath`, or of a folder, where extensions
    ///     in other files are found too. Default: nil, computed members are not looked at.
    /// - Throws: what reading the sources throws.
    public static func violations(
        of template: some RequestTemplate, sources: String? = nil
    ) async throws -> [LawViolation] {
        var found = await stability(template) + storedTypes(template)
        if let sources { found += try writtenTypes(of: template, sources: sources) }
        var seen = Set<TemplateMember?>()
        return found.filter { $0.law != "types" || seen.insert($0.member).inserted }
    }

    /// Throws when a template breaks a law.
    ///
    /// - Parameters:
    ///   - template: any value of its type.
    ///   - sources: the path of the Swift file that declares it, or of a folder. Default: nil, computed members are not
    ///     looked at.
    /// - Throws: ``LawViolations`` with all that are broken, or what reading the sources throws.
    public static func check(_ template: some RequestTemplate, sources: String? = nil) async throws {
        let violations = try await violations(of: template, sources: sources)
        if !violations.isEmpty { throw LawViolations(violations) }
    }

    private static func stability(_ template: some RequestTemplate) async -> [LawViolation] {
        let first = await TemplateReading(template)
        return await TemplateReading(template).differences(from: first).map {
            LawViolation(
                law: "stability", member: $0,
                reason: "differs between two reads: make it once, when the template is made")
        }
    }
}
