/// The rules for sending ``RequestTemplate/parameters``.
enum StandardParameters {
    /// Returns whether parameters are sent as the query for a method, and not as a JSON body.
    static func areQuery(of method: HTTPMethod) -> Bool { method == .get || method == .head }

    /// Returns whether the body of a template is nil or empty.
    static func isEmpty(_ body: some Any) -> Bool {
        if let body = body as? any HTTPBody { return body.isEmpty }
        let mirror = Mirror(reflecting: body)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }
}
