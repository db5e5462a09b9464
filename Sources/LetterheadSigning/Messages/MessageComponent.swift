// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A part of a message that a signature covers (RFC 9421, 2): a field, or a part of the request or the response. Write
/// the name as a literal.
///
/// ```swift
/// ["@method", "@target-uri", "content-digest", .queryParameter("page"), "@status", .ofRequest("@path")]
/// ```
///
/// The derived names are `@method`, `@target-uri`, `@authority`, `@scheme`, `@request-target`, `@path`, `@query` and
/// `@status`. The parameters `sf`, `bs` and `tr` aren't supported.
public struct MessageComponent: Sendable, Hashable, ExpressibleByStringLiteral {
    let name: String
    /// The query parameter's name or the dictionary's key.
    private var part: String?
    private var isOfRequest = false
    /// The identifier in the signature's parameters.
    let text: String

    public init(stringLiteral value: String) { self.init(value) }

    private init(_ name: String, suffix: String = "") {
        self.name = ASCII.lowercased(name)
        text = ASCII.quoted(self.name) + suffix
    }

    /// A query parameter that occurs once, by its name without escapes.
    public static func queryParameter(_ name: String) -> MessageComponent {
        let name = PercentEncoding.escape(name, .form)
        var component = MessageComponent("@query-param", suffix: ";name=" + ASCII.quoted(name))
        component.part = name
        return component
    }

    /// A member of a field that is a dictionary, such as another signature in `Signature`.
    public static func member(_ key: String, of name: String) -> MessageComponent {
        var component = MessageComponent(name, suffix: ";key=" + ASCII.quoted(key))
        component.part = key
        return component
    }

    /// A component of the request, in a response's signature.
    public static func ofRequest(_ component: MessageComponent) -> MessageComponent {
        var own = MessageComponent(
            component.name, suffix: component.text.dropFirst(component.name.utf8.count + 2) + ";req")
        (own.part, own.isOfRequest) = (component.part, true)
        return own
    }

    /// Reads an identifier. Returns nil for an unknown parameter.
    init?(_ item: StructuredMember.Item) {
        (name, text) = (item.value, item.text)
        for (parameter, value) in item.parameters {
            switch (parameter, value) {
            case ("req", "?1"): isOfRequest = true
            case ("name", _) where name.isSame(as: "@query-param"), ("key", _): part = value
            default: return nil
            }
        }
    }

    /// Returns the value in a request, or in a response to a request. Nil if the message doesn't have it.
    func value(in request: HTTPRequest, _ response: HTTPResponse?) -> String? {
        if let response, !isOfRequest {
            return name.isSame(as: "@status")
                ? "\(response.status.code)" : name.begins(with: "@") ? nil : field(of: response.headers)
        }
        let target = request.target
        let path = target.cut(at: "?")
        switch name {
        case "@method": return request.method.rawValue
        case "@scheme": return ASCII.lowercased(request.scheme)
        case "@authority": return ASCII.lowercased(request.hostField)
        case "@target-uri":
            return "\(ASCII.lowercased(request.scheme))://\(ASCII.lowercased(request.hostField))\(target)"
        case "@request-target": return target
        case "@path": return String(path?.head ?? target[...])
        case "@query": return "?" + (path?.tail ?? "")
        case "@query-param":
            let items = PercentEncoding.formItems(of: String(path?.tail ?? ""))
            let values = items.filter { PercentEncoding.escape($0.name, .form).isSame(as: part ?? "") }
            return values.count == 1 ? PercentEncoding.escape(values[0].value, .form) : nil
        case "host": return request.hostField
        case "content-length":
            return request.headers[.contentLength]
                ?? (request.body.isEmpty ? "0" : request.body.contentLength?.description)
        default: return name.begins(with: "@") ? nil : field(of: request.framedHeaders())
        }
    }

    private func field(of headers: HTTPHeaders) -> String? {
        let values = headers.values(for: HTTPHeaders.Name(name))
        guard let part else { return values.isEmpty ? nil : values.joined(separator: ", ") }
        return StructuredMember.members(of: values)?.last { $0.key.isSame(as: part) }?.text
    }

    /// Returns the text that is signed (RFC 9421, 2.5).
    static func base(
        _ components: [MessageComponent], parameters: String, in request: HTTPRequest, _ response: HTTPResponse? = nil
    ) throws(HTTPAuthentication.Failure) -> [UInt8] {
        guard Set(components.map(\.text)).count == components.count else {
            throw HTTPAuthentication.Failure(.malformed, "the signature covers a component twice")
        }
        var text = ""
        for component in components {
            guard let value = component.value(in: request, response) else {
                throw HTTPAuthentication.Failure(
                    .malformed, "the signature covers \(component.text), which the message doesn't have")
            }
            text += "\(component.text): \(value)\n"
        }
        return Array((text + "\"@signature-params\": " + parameters).utf8)
    }
}
