// SPDX-License-Identifier: MIT
public import Letterhead

/// A transport for a client that the whole app shares. It passes each request to the mock of the running test.
///
/// The mock is in a task-local value and not in a global variable. Tests that run in parallel can therefore return
/// different responses to the same client:
///
/// ```swift
/// let client = HTTPClient(environment: .production, transport: ScopedLoader())   // the client of the app, in tests
///
/// try await ScopedLoader.run(over: stubs) {
///     let profile = try await Profile.load()      // sends with the client of the app
/// }
/// ```
///
/// The scope includes the tasks that the operation creates with `async let`, task groups and `Task { … }`. It doesn't
/// include `Task.detached`. A request outside a scope fails with `.unexpectedRequest`.
///
/// The trait `.stubbed` of LetterheadTestingSupport creates a scope for each test.
public struct ScopedLoader: HTTPLoader {
    @TaskLocal private static var scoped: (any HTTPLoader)?

    /// The mock in the current scope, or nil outside a scope.
    public static var current: (any HTTPLoader)? { scoped }

    /// Creates the transport. All scoped loaders pass their requests to the same mock: the one in the current scope.
    public init() {}

    /// Runs an operation in a scope, in which all scoped loaders pass their requests to a mock.
    ///
    /// - Parameters:
    ///   - loader: the mock, such as a ``StubLoader`` or a ``MockLoader``.
    ///   - operation: the test code. Scopes can be nested, and the innermost one applies.
    /// - Returns: what the operation returns.
    public static func run<Value>(
        over loader: any HTTPLoader, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        try await $scoped.withValue(loader, operation: operation)
    }

    /// Responds with the mock in the current scope.
    ///
    /// - Throws: `.unexpectedRequest` outside a scope, or what the mock throws.
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard let loader = Self.scoped else {
            throw HTTPError(
                .unexpectedRequest, request: request,
                message:
                    "no test is running that has a mock: call ScopedLoader.run(over:) around the code that sends the "
                    + "request (Task.detached leaves the scope)",
                mayHaveBeenSent: false)
        }
        return try await loader.load(request)
    }

    /// Resets the mock in the current scope.
    public func reset() async { await Self.scoped?.reset() }
}
