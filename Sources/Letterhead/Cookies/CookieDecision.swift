/// The decision of a jar about one `Set-Cookie` field. An observer can record it: it contains no value.
struct CookieDecision: Sendable, CustomStringConvertible {
    let name: String
    /// The cookie that was stored (or removed, if it has expired), or the reason why it was refused.
    let result: Result<CookieJar.Cookie, CookieRules.Refusal>

    var description: String {
        switch result {
        case .success(let cookie): "stored \(cookie)"
        case .failure(let refusal): "refused \(Redaction.visible(name)): \(refusal.rawValue)"
        }
    }
}

/// The decisions about the cookies of a response, in the order of its fields.
enum CookieDecisions: HTTPRequestOption {
    static let defaultOptionValue: [CookieDecision] = []
}

/// The `Set-Cookie` fields that a server has sent for this request; nil if these are the fields of the response.
///
/// A cache sets it, because the fields of a stored response must not be applied again.
enum NewSetCookies: HTTPRequestOption {
    static let defaultOptionValue: [String]? = nil
}

extension HTTPResponse {
    /// The `Set-Cookie` fields that arrived from the server with this response.
    var newSetCookies: [String] { self[option: NewSetCookies.self] ?? headers.values(for: .setCookie) }
}
