/// Where ``RequestTemplate/parameters`` go.
enum StandardParameters {
    /// Whether parameters are the query of a method, and not its JSON body.
    static func areQuery(of method: HTTPMethod) -> Bool { method == .get || method == .head }

    /// Whether the body of a template is nil or empty.
    static func isEmpty(_ body: some Any) -> Bool {
        if let body = body as? any HTTPBody { return body.isEmpty }
        let mirror = Mirror(reflecting: body)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }
}
