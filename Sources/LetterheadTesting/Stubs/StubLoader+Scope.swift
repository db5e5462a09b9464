extension StubLoader {
    /// The stub loader of the running test; nil if the test has no scope, or if the mock of the scope has another type.
    /// See ``ScopedLoader``.
    public static var current: StubLoader? { ScopedLoader.current as? StubLoader }
}
