/// The description of an error, in the format of RFC 9457.
public struct ProblemDetails: Sendable, Hashable {
    /// A URI that identifies the kind of problem. Default: `about:blank` (the status describes the problem).
    public var type: String
    /// A short summary, which is the same for every problem of this kind.
    public var title: String?
    /// The status, copied to the body by the server.
    public var status: Int?
    /// An explanation of this occurrence.
    public var detail: String?
    /// A URI that identifies this occurrence.
    public var instance: String?
    /// The additional members.
    public var extensions: [String: JSONValue]
}

extension ProblemDetails: Decodable {
    /// Decodes the members. A member whose type differs from the type in the RFC counts as absent.
    public init(from decoder: any Decoder) throws {
        // The members are decoded as JSON values, so that no key strategy changes the names of extensions.
        self.init(members: try decoder.singleValueContainer().decode([String: JSONValue].self))
    }

    /// Creates the details from the members of a JSON object.
    init(members: [String: JSONValue]) {
        var members = members
        type = members.removeValue(forKey: "type")?.string ?? "about:blank"
        title = members.removeValue(forKey: "title")?.string
        status = members.removeValue(forKey: "status")?.int
        detail = members.removeValue(forKey: "detail")?.string
        instance = members.removeValue(forKey: "instance")?.string
        extensions = members
    }
}
