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
    private(set) var isOfRequest = false

    public init(stringLiteral value: String) { name = ASCII.lowercased(value) }

    private init(_ name: String, part: String) { (self.name, self.part) = (ASCII.lowercased(name), part) }

    /// A query parameter that occurs once, by its name without escapes.
    public static func queryParameter(_ name: String) -> MessageComponent {
        MessageComponent("@query-param", part: PercentEncoding.escape(name, .form))
    }

    /// A member of a field that is a dictionary, such as another signature in `Signature`.
    public static func member(_ key: String, of name: String) -> MessageComponent { MessageComponent(name, part: key) }

    /// A component of the request, in a response's signature.
    public static func ofRequest(_ component: MessageComponent) -> MessageComponent {
        var component = component
        component.isOfRequest = true
        return component
    }

    /// Reads an identifier. Returns nil for an unknown parameter.
    init?(_ item: StructuredValue) {
        guard item.text.begins(with: "\"") else { return nil }
        name = item.value
        for (parameter, value) in item.parameters {
            switch (parameter, value) {
            case ("req", "?1"): isOfRequest = true
            case ("name", _) where name.isSame(as: "@query-param"), ("key", _) where !isDerived: part = value
            default: return nil
            }
        }
    }

    /// The fields with a digest of the body (RFC 9530).
    static let digests: Set<String> = ["content-digest", "repr-digest"]

    private var isDerived: Bool { name.begins(with: "@") }

    /// The identifier in the signature's parameters.
    var text: String {
        let parameter = part.map { (isDerived ? ";name=" : ";key=") + ASCII.quoted($0) } ?? ""
        return ASCII.quoted(name) + parameter + (isOfRequest ? ";req" : "")
    }

    /// Returns the value in a request, or in a response to a request. Nil if the message doesn't have it.
    func value(in request: HTTPRequest, _ response: HTTPResponse?) -> String? {
        if let response, !isOfRequest {
            guard isDerived else { return field(of: response.headers) }
            return name.isSame(as: "@status") ? "\(response.status.code)" : nil
        }
        // A request's signature can't refer to another request.
        guard response != nil || !isOfRequest else { return nil }
        let (scheme, target) = (ASCII.lowercased(request.scheme), request.target)
        let query = target.cut(at: "?")?.tail
        switch name {
        case "@method": return request.method.rawValue
        case "@scheme": return scheme
        case "@authority": return request.normalAuthority
        case "@target-uri": return "\(scheme)://\(request.normalAuthority)\(target)"
        case "@request-target": return target
        case "@path": return request.targetPath
        case "@query": return "?" + (query ?? "")
        case "@query-param":
            let items = PercentEncoding.formItems(of: String(query ?? ""))
            let values = items.filter { part?.isSame(as: PercentEncoding.escape($0.name, .form)) == true }
            return values.count == 1 ? PercentEncoding.escape(values[0].value, .form) : nil
        case "host": return request.hostField
        case "content-length":
            let length = request.body.isEmpty ? request.method.expectsBody ? 0 : nil : request.body.contentLength
            return request.headers[.contentLength] ?? length?.description
        default: return isDerived ? nil : field(of: request.framedHeaders())
        }
    }

    private func field(of headers: HTTPHeaders) -> String? {
        let values = headers.values(for: HTTPHeaders.Name(name))
        guard let part else { return values.isEmpty ? nil : values.joined(separator: ", ") }
        return StructuredValue.dictionary(values)?[part]?.text
    }

    /// Returns the text that is signed (RFC 9421, 2.5).
    ///
    /// - Parameter identifiers: the components' texts as received, because their parameters have no fixed order.
    static func base(
        _ components: [MessageComponent], as identifiers: [String]? = nil, parameters: String, in request: HTTPRequest,
        _ response: HTTPResponse? = nil
    ) throws(Failure) -> [UInt8] {
        guard Set(components).count == components.count else {
            throw Failure(.malformed, "the signature covers a component twice")
        }
        var text = ""
        for (component, identifier) in zip(components, identifiers ?? components.map(\.text)) {
            guard let value = component.value(in: request, response), ASCII.isFieldValue(value) else {
                throw Failure(.malformed, "the signature covers \(identifier), which the message doesn't have")
            }
            text += "\(identifier): \(value)\n"
        }
        return Array((text + "\"@signature-params\": " + parameters).utf8)
    }
}
