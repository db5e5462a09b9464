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
/// `@status`.
public struct MessageComponent: Sendable, Hashable, ExpressibleByStringLiteral {
    let name: String
    /// The query parameter's name or the dictionary's key.
    private var part: String?
    /// The parameters without a value.
    private var flags: Set<String> = []

    public init(stringLiteral value: String) { name = ASCII.lowercased(value) }

    private init(_ name: String, part: String? = nil, flags: Set<String> = []) {
        (self.name, self.part, self.flags) = (ASCII.lowercased(name), part, flags)
    }

    /// A query parameter that occurs once, by its name without escapes.
    public static func queryParameter(_ name: String) -> MessageComponent {
        MessageComponent("@query-param", part: PercentEncoding.escape(name, .form))
    }

    /// A member of a field that is a dictionary, such as another signature in `Signature`.
    public static func member(_ key: String, of name: String) -> MessageComponent { MessageComponent(name, part: key) }

    /// A structured field (RFC 9651) in its strict form, so that proxies may change spaces between its parts. Display
    /// strings aren't supported.
    public static func structured(_ name: String) -> MessageComponent { MessageComponent(name, flags: ["sf"]) }

    /// The bytes of each of a field's lines, for a field that has several and isn't a list, such as `Set-Cookie`.
    /// The lines must be UTF-8.
    public static func binaryWrapped(_ name: String) -> MessageComponent { MessageComponent(name, flags: ["bs"]) }

    /// A field in a response's trailers. Requests have none.
    public static func trailer(_ field: MessageComponent) -> MessageComponent { field.with("tr") }

    /// A component of the request, in a response's signature.
    public static func ofRequest(_ component: MessageComponent) -> MessageComponent { component.with("req") }

    private func with(_ flag: String) -> MessageComponent {
        MessageComponent(name, part: part, flags: flags.union([flag]))
    }

    /// Reads an identifier. Returns nil for an unknown parameter.
    init?(_ item: StructuredValue) {
        guard item.text.begins(with: "\"") else { return nil }
        name = item.value
        for (parameter, value) in item.parameters {
            switch (parameter, value) {
            case ("name", _) where name.isSame(as: "@query-param"), ("key", _) where !isDerived: part = value
            case (_, "?1") where Self.flags.contains(parameter): flags.insert(parameter)
            default: return nil
            }
        }
        guard isValid else { return nil }
    }

    /// The fields with a digest of the body (RFC 9530).
    static let digests: Set<String> = ["content-digest", "repr-digest"]
    private static let flags = ["sf", "bs", "tr", "req"]

    private var isDerived: Bool { name.begins(with: "@") }
    var isOfRequest: Bool { flags.contains("req") }

    /// Only fields have forms, and a field's bytes have no parts (RFC 9421, 2.1).
    private var isValid: Bool {
        isDerived ? flags.isSubset(of: ["req"]) : !flags.contains("bs") || part == nil && !flags.contains("sf")
    }

    /// The identifier in the signature's parameters.
    var text: String {
        let parameter = part.map { (isDerived ? ";name=" : ";key=") + ASCII.quoted($0) } ?? ""
        return ASCII.quoted(name) + parameter + Self.flags.filter(flags.contains).map { ";" + $0 }.joined()
    }

    /// Returns the value in a request, or in a response to a request. Nil if the message doesn't have it.
    func value(in request: HTTPRequest, _ response: HTTPResponse?) -> String? {
        // A request's signature can't refer to another request.
        guard isValid, response != nil || !isOfRequest else { return nil }
        guard isDerived else { return value(of: lines(in: request, response)) }
        if let response, !isOfRequest { return name.isSame(as: "@status") ? "\(response.status.code)" : nil }
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
        default: return nil
        }
    }

    /// Returns a field's lines in the message that it belongs to.
    func lines(in request: HTTPRequest, _ response: HTTPResponse?) -> [String] {
        let (field, received) = (HTTPHeaders.Name(name), isOfRequest ? nil : response)
        if flags.contains("tr") { return received?.trailers.values(for: field) ?? [] }
        if let received { return received.headers.values(for: field) }
        switch name {
        case "host": return [request.hostField]
        case "content-length":
            let length = request.body.isEmpty ? request.method.expectsBody ? 0 : nil : request.body.contentLength
            return (request.headers[.contentLength] ?? length?.description).map { [$0] } ?? []
        default: return request.framedHeaders().values(for: field)
        }
    }

    private func value(of lines: [String]) -> String? {
        guard !lines.isEmpty else { return nil }
        if let part { return StructuredValue.dictionary(lines)?[part]?.text }
        if flags.contains("sf") { return StructuredValue.strict(lines) }
        let isBinary = flags.contains("bs")
        return lines.map { isBinary ? ":\(Data($0.utf8).base64EncodedString()):" : $0 }.joined(separator: ", ")
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
                let rule = "which the message doesn't have in this form"
                throw Failure(.malformed, "the signature covers \(identifier), \(rule)")
            }
            text += "\(identifier): \(value)\n"
        }
        return Array((text + "\"@signature-params\": " + parameters).utf8)
    }
}
