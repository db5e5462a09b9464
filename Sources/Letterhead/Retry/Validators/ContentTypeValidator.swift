/// Fails responses whose media type is none of those expected, such as the HTML page of a proxy instead of JSON.
///
/// ```swift
/// ContentTypeValidator(["application/json", "application/*+json"])
/// ```
///
/// Only accepted statuses with a body are judged: the body of an error may be anything. The body of a download is what was
/// saved. The failure is
/// `.validationFailed`, naming what came and what was expected.
public struct ContentTypeValidator: HTTPValidator {
    private let types: [String]
    private let allowsMissing: Bool

    /// Makes the validator.
    ///
    /// - Parameters:
    ///   - types: what is expected, without parameters: `application/json`, `text/*`, `application/*+json`, `*/*`.
    ///   - allowsMissing: whether a response may leave its type out. Default: false.
    public init(_ types: [String], allowsMissing: Bool = false) {
        self.types = types.map { ASCII.lowercased(ASCII.trimmed($0)) }
        self.allowsMissing = allowsMissing
    }

    /// Fails another media type.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) -> HTTPValidatorResult {
        guard request.accepts(response.status), request.method != .head, response.contentCount != 0 else {
            return .nextValidator
        }
        let type = response.headers.mediaType?.essence
        if let type { if types.contains(where: { Self.pattern($0, matches: type) }) { return .nextValidator } }
        if type == nil, allowsMissing, !response.headers.contains(.contentType) { return .nextValidator }
        return .failChain(
            HTTPError(
                .validationFailed, request: request, response: response,
                message: "the body is \(type ?? "of no known media type"), expected was "
                    + types.joined(separator: " or ")))
    }

    /// A star stands for a whole type, a whole subtype, or what is before the suffix of one.
    private static func pattern(_ pattern: String, matches type: String) -> Bool {
        let wanted = pattern.split(separator: "/", maxSplits: 1)
        let given = type.split(separator: "/", maxSplits: 1)
        guard wanted.count == 2, given.count == 2 else { return false }
        guard wanted[0] == "*" || wanted[0] == given[0] else { return false }
        if wanted[1] == "*" || wanted[1] == given[1] { return true }
        return wanted[1].hasPrefix("*+") && given[1].hasSuffix(wanted[1].dropFirst())
            && given[1].count > wanted[1].count - 1
    }
}
