import Foundation

/// The decision of a jar about one `Set-Cookie` field.
struct CookieDecision: Sendable, CustomStringConvertible {
    let name: String
    /// The cookie that was stored (or removed, if it has expired), or the reason why it was refused.
    let result: Result<CookieJar.Cookie, CookieRules.Refusal>

    /// Records the decision if the load of the request is observed. The event does not contain the value of the cookie.
    func record(for request: HTTPRequest, at time: Date) {
        switch result {
        case .success(let cookie):
            request.record(cookie.hasExpired(at: time) ? .cookieRemoved : .cookieStored) { event in
                event[.name] = Redaction.visible(name)
            }
        case .failure(let refusal):
            request.record(.cookieRefused) { event in
                event[.name] = Redaction.visible(name)
                event[.reason] = refusal.rawValue
            }
        }
    }

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

/// The `Set-Cookie` fields that a server has sent for this request; nil if they are the same as those of the response.
///
/// A cache sets this option, because the fields of a stored response must not be applied again.
enum NewSetCookies: HTTPRequestOption {
    static let defaultOptionValue: [String]? = nil
}

extension HTTPResponse {
    /// The `Set-Cookie` fields that arrived from the server with this response.
    var newSetCookies: [String] { self[option: NewSetCookies.self] ?? headers.values(for: .setCookie) }
}
