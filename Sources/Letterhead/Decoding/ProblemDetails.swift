/// What went wrong, in a form that many APIs share (RFC 9457).
public struct ProblemDetails: Sendable, Hashable {
    /// A URI that names the kind of problem. Default: `about:blank`, the status says it all.
    public var type: String
    /// What it is, in a few words, the same for every problem of the kind.
    public var title: String?
    /// The status, as the server repeats it in the body.
    public var status: Int?
    /// What happened this time.
    public var detail: String?
    /// A URI that names this occurrence.
    public var instance: String?
    /// What the API says besides.
    public var extensions: [String: JSONValue]
}

extension ProblemDetails: Decodable {
    /// Decodes the members; one of another type than the RFC has counts as absent.
    public init(from decoder: any Decoder) throws {
        // As a value, so that no key strategy changes the names of extensions.
        self.init(members: try decoder.singleValueContainer().decode([String: JSONValue].self))
    }

    private init(members: [String: JSONValue]) {
        var members = members
        func text(_ name: String) -> String? {
            if case .string(let text) = members.removeValue(forKey: name) { text } else { nil }
        }
        type = text("type") ?? "about:blank"
        title = text("title")
        detail = text("detail")
        instance = text("instance")
        status = if case .int(let code) = members.removeValue(forKey: "status") { Int(code) } else { nil }
        extensions = members
    }
}

extension ProblemDetails: JSONDocument {
    init(json: JSONValue) throws { self.init(members: try [String: JSONValue](json: json)) }
}
