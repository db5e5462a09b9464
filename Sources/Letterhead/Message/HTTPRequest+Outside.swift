/// Whether an environment was applied that a request does not belong to.
enum OutsideEnvironmentOption: HTTPRequestOption {
    /// It belongs to its environment, or there is none.
    static let defaultOptionValue = false
}

extension HTTPRequest {
    /// Whether it goes to another origin than its environment's, so that nothing of the client goes with it.
    var isOutsideEnvironment: Bool {
        get { self[option: OutsideEnvironmentOption.self] }
        set { self[option: OutsideEnvironmentOption.self] = newValue }
    }
}
