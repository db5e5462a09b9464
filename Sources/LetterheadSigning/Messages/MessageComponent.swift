// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A part of a message that a signature covers (RFC 9421, 2): a header field, or a derived part such as the method.
/// Write its name as a literal.
///
/// ```swift
/// ["@method", "@target-uri", "content-digest", .queryParameter("page"), "@status", .ofRequest("@path")]
/// ```
///
/// The derived names are `@method`, `@target-uri`, `@authority`, `@scheme`, `@request-target`, `@path`, `@query` and
/// `@status`.
public struct MessageComponent: Sendable, Hashable, ExpressibleByStringLiteral {
    let name: String
    /// The query parameter name, or the dictionary key.
    private var part: String?
    /// The component parameters without a value, such as `sf`.
    private var flags: Set<String> = []

    /// Creates a component from a field name or a derived name.
    public init(stringLiteral value: String) { name = ASCII.lowercased(value) }

    private init(_ name: String, part: String? = nil, flags: Set<String> = []) {
        (self.name, self.part, self.flags) = (ASCII.lowercased(name), part, flags)
    }

    /// A query parameter that occurs once. Pass its name without escapes.
    public static func queryParameter(_ name: String) -> MessageComponent {
        MessageComponent("@query-param", part: PercentEncoding.escape(name, .form))
    }

    /// A member of a dictionary field. Use it for example to cover an earlier signature in `Signature`.
    public static func member(_ key: String, of name: String) -> MessageComponent { MessageComponent(name, part: key) }

    /// A structured field (RFC 9651) in its strict serialization. Proxies may then change the spaces between its parts
    /// without breaking the signature. Display strings aren't supported.
    public static func structured(_ name: String) -> MessageComponent { MessageComponent(name, flags: ["sf"]) }

    /// The bytes of each field line. Use it for a field that has several lines and isn't a list, such as `Set-Cookie`.
    /// The lines must be UTF-8.
    public static func binaryWrapped(_ name: String) -> MessageComponent { MessageComponent(name, flags: ["bs"]) }

    /// A field in the trailers of a response. Requests have no trailers.
    public static func trailer(_ field: MessageComponent) -> MessageComponent { field.with("tr") }

    /// A component of the request, which the signature of the response covers. It binds the response to the request.
    public static func ofRequest(_ component: MessageComponent) -> MessageComponent { component.with("req") }

    private func with(_ flag: String) -> MessageComponent {
        MessageComponent(name, part: part, flags: flags.union([flag]))
    }

    /// Reads a component identifier. Returns nil for a name that isn't in lower case, and for an unknown parameter.
    init?(_ item: StructuredValue) {
        guard item.isString, item.value.isSame(as: ASCII.lowercased(item.value)) else { return nil }
        name = item.value
        for (parameter, value) in item.parameters {
            switch (parameter, value.text) {
            case ("name", _) where value.isString && name.isSame(as: "@query-param"): part = value.value
            case ("key", _) where value.isString && !isDerived: part = value.value
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

    /// Whether the parameters fit together: `sf`, `bs` and `tr` apply to header fields only, and `bs` can't be combined
    /// with `sf` or a member key (RFC 9421, 2.1).
    private var isValid: Bool {
        isDerived ? flags.isSubset(of: ["req"]) : !flags.contains("bs") || part == nil && !flags.contains("sf")
    }

    /// The component identifier as it is written into the signature parameters.
    var text: String {
        let parameter = part.map { (isDerived ? ";name=" : ";key=") + ASCII.quoted($0) } ?? ""
        return ASCII.quoted(name) + parameter + Self.flags.filter(flags.contains).map { ";" + $0 }.joined()
    }

    /// Returns the value of this component in a message, or nil if the message doesn't have it.
    func value(in parts: inout MessageParts) -> String? {
        // `req` is for response signatures: a request signature can't refer to a different request.
        guard isValid, parts.response != nil || !isOfRequest else { return nil }
        guard isDerived else { return parts.value(of: self) }
        if let response = parts.response, !isOfRequest {
            return name.isSame(as: "@status") ? "\(response.status.code)" : nil
        }
        let (request, scheme) = (parts.request, ASCII.lowercased(parts.request.scheme))
        switch name {
        case "@method": return request.method.rawValue
        case "@scheme": return scheme
        case "@authority": return request.normalAuthority
        case "@target-uri": return "\(scheme)://\(request.normalAuthority)\(parts.target)"
        case "@request-target": return parts.target
        case "@path": return request.targetPath
        case "@query": return "?" + (parts.target.cut(at: "?")?.tail ?? "")
        case "@query-param": return part.flatMap { parts.queryParameter($0) }
        default: return nil
        }
    }

    /// The same field without `sf`, `bs` and a key. All components that read this field share its lines.
    fileprivate var field: MessageComponent { MessageComponent(name, flags: flags.intersection(["tr", "req"])) }
    fileprivate var isTrailer: Bool { flags.contains("tr") }

    fileprivate func value(of field: inout MessageParts.Field) -> String? {
        guard !field.lines.isEmpty else { return nil }
        if let part { return field.dictionary?[part]?.text }
        if flags.contains("sf") { return field.strict }
        let isBinary = flags.contains("bs")
        return field.lines.map { isBinary ? ":\(Data($0.utf8).base64EncodedString()):" : $0 }.joined(separator: ", ")
    }

    /// Returns the signature base, the text that is signed (RFC 9421, 2.5).
    ///
    /// - Parameter identifiers: the component identifiers as received, because their parameters have no fixed order.
    ///   Default: nil (as this library writes them).
    static func base(
        _ components: [MessageComponent], as identifiers: [String]? = nil, parameters: String,
        in parts: inout MessageParts
    ) throws(Failure) -> [UInt8] {
        guard Set(components).count == components.count else {
            throw Failure(.malformed, "the signature covers a component twice")
        }
        var text = ""
        for (component, identifier) in zip(components, identifiers ?? components.map(\.text)) {
            guard let value = component.value(in: &parts), ASCII.isFieldValue(value) else {
                let rule = "which the message doesn't contain, or not in this form"
                throw Failure(.malformed, "the signature covers \(identifier), \(rule)")
            }
            text += "\(identifier): \(value)\n"
        }
        return Array((text + "\"@signature-params\": " + parameters).utf8)
    }
}

/// The parts of a message that components read. Each field and the query are parsed once, even if many components name
/// them.
struct MessageParts {
    /// The field lines, and the values that were parsed from them.
    struct Field {
        let lines: [String]
        lazy var dictionary = StructuredValue.dictionary(lines)
        lazy var strict = StructuredValue.strict(lines)
    }

    let request: HTTPRequest
    let response: HTTPResponse?
    private var fields: [MessageComponent: Field] = [:]
    private lazy var framed = request.framedHeaders()
    lazy var target = request.target
    /// The query values by name. Names and values are both normalized.
    private lazy var query = PercentEncoding.formItems(of: request.query.escaped).reduce(
        into: [String: [String]]()
    ) { items, item in
        items[PercentEncoding.escape(item.name, .form), default: []].append(PercentEncoding.escape(item.value, .form))
    }

    init(_ request: HTTPRequest, _ response: HTTPResponse? = nil) {
        (self.request, self.response) = (request, response)
    }

    mutating func queryParameter(_ name: String) -> String? {
        query[name].flatMap { $0.count == 1 ? $0[0] : nil }
    }

    mutating func value(of component: MessageComponent) -> String? {
        let name = component.field
        var field = fields[name] ?? Field(lines: read(name))
        let value = component.value(of: &field)
        fields[name] = field
        return value
    }

    mutating func lines(of component: MessageComponent) -> [String] { read(component.field) }

    /// Returns the field lines in the request or the response, as the component requires.
    private mutating func read(_ component: MessageComponent) -> [String] {
        let (field, received) = (HTTPHeaders.Name(component.name), component.isOfRequest ? nil : response)
        if component.isTrailer { return received?.trailers.values(for: field) ?? [] }
        if let received { return received.headers.values(for: field) }
        switch component.name {
        case "host": return [request.hostField]
        case "content-length":
            let length = request.body.isEmpty ? request.method.expectsBody ? 0 : nil : request.body.contentLength
            return (request.headers[.contentLength] ?? length?.description).map { [$0] } ?? []
        default: return framed.values(for: field)
        }
    }
}
