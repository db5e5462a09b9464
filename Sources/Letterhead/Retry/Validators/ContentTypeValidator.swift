/// A validator that refuses responses with an unexpected media type, such as the HTML page of a proxy instead of JSON.
///
/// ```swift
/// ContentTypeValidator(["application/json", "application/*+json"])
/// ```
///
/// Only responses that have an accepted status and a body are checked; an error response may have any type. The body of
/// a download is the saved file. The failure is `.validationFailed`, and its message names the received and the
/// expected types.
public struct ContentTypeValidator: HTTPValidator {
    private let types: [String]
    private let allowsMissing: Bool

    /// Creates the validator.
    ///
    /// - Parameters:
    ///   - types: the expected types, without parameters: `application/json`, `text/*`, `application/*+json`, `*/*`.
    ///   - allowsMissing: whether a response may omit its media type. Default: false.
    public init(_ types: [String], allowsMissing: Bool = false) {
        self.types = types.map { ASCII.lowercased(ASCII.trimmed($0)) }
        self.allowsMissing = allowsMissing
    }

    /// Fails an accepted response whose media type is not expected.
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
                message: "the media type of the body is \(type ?? "missing or malformed"), expected "
                    + types.joined(separator: " or ")))
    }

    /// A star matches a whole type, a whole subtype, or the part of a subtype before its suffix.
    private static func pattern(_ pattern: String, matches type: String) -> Bool {
        guard let wanted = pattern.cut(at: "/"), let given = type.cut(at: "/") else { return false }
        guard wanted.head == "*" || wanted.head == given.head else { return false }
        if wanted.tail == "*" || wanted.tail == given.tail { return true }
        return wanted.tail.begins(with: "*+") && given.tail.ends(with: wanted.tail.dropFirst())
            && given.tail.count > wanted.tail.count - 1
    }
}
