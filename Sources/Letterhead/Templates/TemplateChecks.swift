import Synchronization

/// The results of the checks that depend only on the type of a template.
///
/// They are made once for each type and stored, because they take longer than the rest of building a request.
struct TemplateChecks: Sendable {
    /// The error of a member whose type the library does not support; nil if there is none.
    let misfit: String?
    /// The reason why no response can be decoded; nil if one can.
    let undecodable: String?
    /// Whether a decoder reads the response.
    let isDecoded: Bool
    /// Whether the template has pages.
    let isPaginated: Bool

    private static let results = Mutex<[ObjectIdentifier: TemplateChecks]>([:])

    /// Returns the results for a type.
    static func of<Template: RequestTemplate>(_ type: Template.Type) -> TemplateChecks {
        let key = ObjectIdentifier(type)
        if let checks = results.withLock({ $0[key] }) { return checks }
        let checks = TemplateChecks(
            misfit: type._misfit, undecodable: type._undecodable,
            isDecoded: ResponseDecoding.usesDecoder(for: type.Response.self),
            isPaginated: type is any PaginatedTemplate.Type)
        results.withLock { $0[key] = checks }
        return checks
    }
}
