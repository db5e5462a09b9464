import Foundation
import Letterhead

/// Removes secrets from a message before it is written to a cassette.
///
/// The result has the same form as the message, so that a redacted response can be decoded: a secret string becomes
/// `REDACTED`, a secret number becomes 0.
struct CassetteRedaction: Sendable {
    static let mark = "REDACTED"

    let names: Redaction

    /// Returns the fields without secret values. A cookie keeps its name and its attributes.
    func fields(_ headers: HTTPHeaders) -> [HAR.Field] {
        headers.map { field in
            if field.name == .setCookie { return HAR.Field(name: field.name.rawValue, value: cookie(field.value)) }
            let isSecret = field.isSecret || names.isSecret(header: field.name)
            return HAR.Field(name: field.name.rawValue, value: isSecret ? Self.mark : text(field.value))
        }
    }

    /// Returns a URL, or a string that contains URLs, without secret values.
    func text(_ text: String) -> String { plain(names.redactURLs(text)) }

    /// Returns a body without secret values.
    ///
    /// - Parameter isSecret: whether the whole body is secret, as in the response of a token endpoint. The members of a
    ///   JSON body that are never secret in such a response, such as `token_type`, are kept.
    func body(_ data: Data, mediaType: MediaType?, isSecret: Bool) -> Data {
        if mediaType?.isMultipart == true {
            return isSecret ? Data(Self.mark.utf8) : multipart(data, mediaType?["boundary"])
        }
        guard let text = String(data: data, encoding: .utf8) else { return isSecret ? Data(Self.mark.utf8) : data }
        if mediaType?.essence == "application/x-www-form-urlencoded" {
            return Data((isSecret ? Self.mark : plain(names.redactForm(text))).utf8)
        }
        if let json = try? JSONDecoder().decode(JSONValue.self, from: data) {
            let redacted = redact(json, isSecret: isSecret)
            guard redacted != json else { return data }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return (try? encoder.encode(redacted)) ?? Data(Self.mark.utf8)
        }
        return Data((isSecret ? Self.mark : plain(names.redactURLs(names.redactJSON(text)))).utf8)
    }

    private func plain(_ text: String) -> String { text.replacingBytes(of: Redaction.mark, with: Self.mark) }

    private func cookie(_ value: String) -> String {
        let pair = value.prefix { $0 != ";" }
        guard let name = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).first else {
            return Self.mark
        }
        return "\(name)=\(Self.mark)\(value.dropFirst(pair.count))"
    }

    /// Returns the redaction with the secret names of a request.
    func adding(_ own: Redaction) -> CassetteRedaction {
        CassetteRedaction(names: names.adding(headers: own.headers, parameters: own.parameters))
    }

    /// The members of a token response that are not secret (RFC 6749, 5; RFC 8628, 3.2).
    private static let publicMembers: Set<String> = [
        "token_type", "scope", "error", "error_description", "error_uri", "issued_token_type", "verification_uri",
        "expires_in", "refresh_token_expires_in", "interval",
    ]

    private func redact(_ value: JSONValue, isSecret: Bool) -> JSONValue {
        switch value {
        case .object(let members):
            var redacted: [String: JSONValue] = [:]
            for (name, member) in members {
                let isMemberSecret = names.isSecret(parameter: name) || isSecret && !Self.publicMembers.contains(name)
                redacted[name] = redactMember(member, isSecret: isMemberSecret)
            }
            return .object(redacted)
        case .array(let elements): return .array(elements.map { redact($0, isSecret: isSecret) })
        case .string(let text): return .string(isSecret ? Self.mark : plain(names.redactURLs(text)))
        case .int where isSecret, .uint where isSecret: return .int(0)
        case .double where isSecret: return .double(0)
        default: return value
        }
    }

    /// Redacts all leaves of a secret member.
    private func redactMember(_ value: JSONValue, isSecret: Bool) -> JSONValue {
        switch value {
        case .object(let members) where isSecret: .object(members.mapValues { redactMember($0, isSecret: true) })
        case .array(let elements) where isSecret: .array(elements.map { redactMember($0, isSecret: true) })
        default: redact(value, isSecret: isSecret)
        }
    }

    /// Returns a multipart body without secrets. The content of a part with a secret name is replaced as a whole. In
    /// other parts, only the secrets are replaced.
    private func multipart(_ data: Data, _ boundary: String?) -> Data {
        guard let boundary, !boundary.isEmpty else { return data }
        var output = Data()
        var rest = data[...]
        let delimiter = Data("--\(boundary)".utf8)
        while let found = rest.range(of: delimiter) {
            output += part(rest[..<found.lowerBound]) + delimiter
            rest = rest[found.upperBound...]
        }
        return output + rest
    }

    private func part(_ part: Data) -> Data {
        guard let end = part.range(of: Data("\r\n\r\n".utf8)) else { return part }
        let head = String(decoding: part[..<end.lowerBound], as: UTF8.self)
        let name = head.firstMatch(of: /name="([^"]*)"/).map { String($0.1) } ?? ""
        if names.isSecret(parameter: name) { return part[..<end.upperBound] + Data("\(Self.mark)\r\n".utf8) }
        let (content, lineEnd) = (part[end.upperBound...], Data("\r\n".utf8))
        guard content.suffix(2) == lineEnd else { return part }
        let type = head.firstMatch(of: /(?i)content-type:\s*([^\r\n]+)/).flatMap { MediaType(String($0.1)) }
        let clean = body(Data(content.dropLast(2)), mediaType: type, isSecret: false)
        return part[..<end.upperBound] + clean + lineEnd
    }
}
