// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Verifies the webhooks that a server receives, in constant time, and signs them for tests.
///
/// ```swift
/// let webhook = Webhook.standard("whsec_…")
/// try webhook.verify(body, headers: headers)   // throws if the body isn't the sender's
/// ```
///
/// Pass the body bytes as received, before any decoding. While you replace a secret, pass both the old and the new one.
public struct Webhook: Sendable {
    /// The text before a signature in a header.
    private enum Form: String {
        case timestamped = "v1="
        case hash = "sha256="
        case slack = "v0="
        case standard = "v1,"
    }

    private let form: Form
    private let secrets: [Secret]
    private let header: HTTPHeaders.Name
    private let tolerance: Duration
    private let now: @Sendable () -> Date

    /// Describes webhooks with a header such as `Stripe-Signature: t=1492774577,v1=5257a869…`. The signature covers the
    /// time and the body.
    ///
    /// - Parameters:
    ///   - secrets: the text of the secrets. The first one signs.
    ///   - header: the header name.
    ///   - tolerance: the largest difference between the time in the webhook and the current date. It allows for
    ///     different clocks and for the delivery. Other webhooks are refused, because they may be replays.
    ///   - now: returns the current date.
    public static func timestamped(
        _ secrets: Secret..., header: HTTPHeaders.Name, tolerance: Duration = .seconds(300),
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> Webhook {
        Webhook(form: .timestamped, secrets: secrets, header: header, tolerance: tolerance, now: now)
    }

    /// Describes webhooks with a header such as `X-Hub-Signature-256: sha256=757107ea…`. The signature covers the body
    /// only, so replays aren't detected.
    ///
    /// The prefix `sha256=` is optional, and the signature may be in Base64 as in `X-Shopify-Hmac-Sha256`.
    ///
    /// - Parameters:
    ///   - secrets: the text of the secrets. The first one signs.
    ///   - header: the header name.
    public static func sha256(_ secrets: Secret..., header: HTTPHeaders.Name = "X-Hub-Signature-256") -> Webhook {
        Webhook(form: .hash, secrets: secrets, header: header, tolerance: .zero) { Date() }
    }

    /// Describes the webhooks of Slack, with the headers `X-Slack-Request-Timestamp` and
    /// `X-Slack-Signature: v0=a2114d57…`.
    ///
    /// - Parameters:
    ///   - secrets: the text of the secrets. The first one signs.
    ///   - tolerance: the largest difference between the time in the webhook and the current date. It allows for
    ///     different clocks and for the delivery. Other webhooks are refused, because they may be replays.
    ///   - now: returns the current date.
    public static func slack(
        _ secrets: Secret..., tolerance: Duration = .seconds(300), now: @escaping @Sendable () -> Date = { Date() }
    ) -> Webhook {
        Webhook(form: .slack, secrets: secrets, header: "X-Slack-Signature", tolerance: tolerance, now: now)
    }

    /// Describes Standard Webhooks, with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature: v1,…`.
    ///
    /// A webhook that calls these headers `svix-id`, `svix-timestamp` and `svix-signature` is verified as well.
    ///
    /// - Parameters:
    ///   - secrets: the secrets in Base64, usually after `whsec_`. The first one signs.
    ///   - tolerance: the largest difference between the time in the webhook and the current date. It allows for
    ///     different clocks and for the delivery. Other webhooks are refused, because they may be replays.
    ///   - now: returns the current date.
    public static func standard(
        _ secrets: Secret..., tolerance: Duration = .seconds(300), now: @escaping @Sendable () -> Date = { Date() }
    ) -> Webhook {
        Webhook(form: .standard, secrets: secrets, header: "webhook-signature", tolerance: tolerance, now: now)
    }

    /// Verifies the signature in the headers, and the time if they contain one.
    ///
    /// - Throws: `HTTPAuthentication.Failure` with the reason `.missingSignature`, `.invalidSignature` or
    ///   `.misconfigured` (a secret is empty or malformed).
    public func verify(_ body: Data, headers: HTTPHeaders) throws {
        // Svix uses the same headers with its name as the prefix.
        let prefix =
            form == .standard && !headers.contains(header) && headers.contains("svix-signature")
            ? "svix-" : "webhook-"
        let field = prefix == "svix-" ? "svix-signature" : header
        guard let value = headers[field] else { throw Failure(.missingSignature, "the webhook has no \(header)") }
        let parts = value.split(at: form == .standard ? " " : ",").map { ASCII.trimmed($0) }
        func values(_ prefix: String) -> [String] {
            parts.filter { $0.begins(with: prefix) }.map { String($0.dropFirst(prefix.utf8.count)) }
        }
        let time: String? =
            switch form {
            case .timestamped: values("t=").first
            case .hash: nil
            case .slack: headers["X-Slack-Request-Timestamp"]
            case .standard: headers[HTTPHeaders.Name(prefix + "timestamp")]
            }
        if form != .hash { try check(time) }
        let id = headers[HTTPHeaders.Name(prefix + "id")]
        // The signed text consists of parts that are joined with points. An identifier with a point could therefore
        // move the end of a part.
        guard form != .standard || id?.utf8.contains(UInt8(ascii: ".")) == false else {
            throw Failure(.invalidSignature, "the webhook's \(prefix)id is missing or contains a period")
        }
        let codes = (form == .hash ? parts.filter { !$0.begins(with: form.rawValue) } : []) + values(form.rawValue)
        for secret in secrets {
            let code = try code(of: body, id: id, time: time, with: secret)
            let forms = [Hexadecimal.text(code), Data(code).base64EncodedString()].map { Array($0.utf8) }
            for text in codes.prefix(16).flatMap({ [$0, ASCII.lowercased($0)] }) {
                if forms.contains(where: { HMAC.isEqual(Array(text.utf8), $0) }) { return }
            }
        }
        throw Failure(.invalidSignature, "the webhook's signature doesn't match its body")
    }

    private func check(_ time: String?) throws(Failure) {
        guard let time else { throw Failure(.invalidSignature, "the webhook has no timestamp") }
        guard let seconds = Int64(time) else {
            throw Failure(.invalidSignature, "the webhook's timestamp is not a number of seconds")
        }
        let age = now().timeIntervalSince1970 - Double(seconds)
        guard Duration.seconds(abs(age)) <= tolerance else {
            let place = age > 0 ? "old" : "far in the future"
            throw Failure(
                .invalidSignature, "the webhook's timestamp is too \(place) (the tolerance is \(tolerance.shown))")
        }
    }

    /// Returns the signed headers for a body, for a test of your handler.
    ///
    /// - Throws: `HTTPAuthentication.Failure` if there is no secret, or if the first one is malformed.
    public func sign(_ body: Data, id: String = "msg_1") throws -> HTTPHeaders {
        let time = "\(Int64(now().timeIntervalSince1970))"
        let code = try code(of: body, id: id, time: time, with: secrets.first ?? "")
        let text = form == .standard ? Data(code).base64EncodedString() : Hexadecimal.text(code)
        return switch form {
        case .timestamped: [header: "t=\(time),v1=\(text)"]
        case .hash: [header: "sha256=\(text)"]
        case .slack: ["X-Slack-Request-Timestamp": time, header: "v0=\(text)"]
        case .standard: ["webhook-id": id, "webhook-timestamp": time, header: "v1,\(text)"]
        }
    }

    private func code(of body: Data, id: String?, time: String?, with secret: Secret) throws(Failure) -> [UInt8] {
        let (text, isStandard) = (secret.reveal(), form == .standard)
        let encoded = text.begins(with: "whsec_") ? String(text.dropFirst(6)) : text
        guard let key = isStandard ? Data(base64Encoded: encoded) : Data(text.utf8), !key.isEmpty else {
            throw Failure(.misconfigured, "the webhook's secret is empty or malformed")
        }
        let start =
            switch form {
            case .timestamped: "\(time ?? "")."
            case .hash: ""
            case .slack: "v0:\(time ?? ""):"
            case .standard: "\(id ?? "").\(time ?? "")."
            }
        return HMAC.sha256(Data(start.utf8) + body, key: Array(key))
    }
}
