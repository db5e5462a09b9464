/// Where ``RequestTemplate/parameters`` go.
enum StandardParameters {
    /// Whether parameters are the query of a method, and not its JSON body.
    static func areQuery(of method: HTTPMethod) -> Bool { method == .get || method == .head }
}
