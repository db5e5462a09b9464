// SPDX-License-Identifier: MIT
#if canImport(Testing)
    public import LetterheadTesting
    public import Testing

    /// A Swift Testing trait that creates a `StubLoader` for each test.
    ///
    /// The shared client of your app has a `ScopedLoader` as its transport. Each test then receives responses from its
    /// stubs only, even if tests run in parallel:
    ///
    /// ```swift
    /// @Suite(.stubbed) struct ProfileTests {
    ///     @Test func `the profile shows the login`() async throws {
    ///         let stubs = try #require(StubLoader.current)
    ///         stubs.on(GetUser.self) { template in User(login: template.login) }
    ///         #expect(try await Profile.load().title == "ada")
    ///     }
    /// }
    /// ```
    ///
    /// After the test, the trait calls `verify()`: an unexpected request, or a stub that wasn't called, fails the test.
    /// If a test has arguments, each case has a separate loader.
    public struct StubbedTrait: TestTrait, SuiteTrait, TestScoping {
        let prepare: @Sendable (StubLoader) throws -> Void

        /// Returns true, so that a trait of a suite applies to each test in it.
        public var isRecursive: Bool { true }

        /// Returns this trait for each test case, and nil for a test or suite as a whole.
        public func scopeProvider(for test: Test, testCase: Test.Case?) -> StubbedTrait? {
            testCase == nil ? nil : self
        }

        /// Runs one test case with a new loader, and verifies the loader.
        @concurrent
        public func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
        ) async throws {
            let stubs = StubLoader()
            try prepare(stubs)
            try await ScopedLoader.run(over: stubs) { try await function() }
            do { try stubs.verify() } catch { Issue.record("\(error)") }
        }
    }

    extension Trait where Self == StubbedTrait {
        /// Creates stubs for each test: `@Test(.stubbed)` or `@Suite(.stubbed)`.
        public static var stubbed: Self { stubbed { _ in } }

        /// Creates stubs for each test, and adds those that the tests share.
        ///
        /// ```swift
        /// @Suite(.stubbed { $0.on(GetUser.self, times: .any) { User(login: $0.login) } })
        /// ```
        ///
        /// - Parameter prepare: adds the shared stubs to the loader of each test.
        public static func stubbed(_ prepare: @escaping @Sendable (StubLoader) throws -> Void) -> Self {
            StubbedTrait(prepare: prepare)
        }
    }
#endif
