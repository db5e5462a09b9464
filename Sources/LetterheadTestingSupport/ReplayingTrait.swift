// SPDX-License-Identifier: MIT
#if canImport(Testing)
    import LetterheadFoundation
    public import Letterhead
    public import LetterheadRecording
    public import LetterheadTesting
    public import Testing

    /// A Swift Testing trait that replays a file from a `FlightRecorder` in a test.
    ///
    /// The shared client of your app has a `ScopedLoader` as its transport. During the test, the client receives the
    /// responses and failures that the recorder has seen, after the recorded waits, which take no real time:
    ///
    /// ```swift
    /// @Test(.replaying("Flights/pay-7.har")) func `a payment is made once`() async throws {
    ///     try await Payment(id: 7).pay()
    /// }
    /// ```
    ///
    /// A request that differs from the recorded ones fails the test, even if the code under test catches its error. The
    /// failure names the differences.
    public struct ReplayingTrait: TestTrait, TestScoping {
        let file: URL
        let matching: Cassette.Matching
        let redaction: Redaction
        let clock: TestClock?

        /// Returns this trait for each test case, and nil for a test as a whole.
        public func scopeProvider(for test: Test, testCase: Test.Case?) -> ReplayingTrait? {
            testCase == nil ? nil : self
        }

        /// Runs one test case over a new cassette, and verifies the cassette.
        @concurrent
        public func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
        ) async throws {
            let clock = clock ?? TestClock()
            let cassette = try Cassette(flight: file, matching: matching, redaction: redaction, clock: clock)
            async let _: Void = clock.runUntilCancelled()
            defer { do { try cassette.verify() } catch { Issue.record("\(error)") } }
            try await ScopedLoader.run(over: cassette.loader) { try await function() }
        }
    }

    extension Trait where Self == ReplayingTrait {
        /// Replays a file from a flight recorder in a test: `@Test(.replaying("Flights/pay-7.har"))`.
        ///
        /// - Parameters:
        ///   - path: the path of the file, relative to the folder with the source file of the test.
        ///   - matching: the rules for replaying. Default: method, URL and body must be equal.
        ///   - redaction: the secret names. Pass those that you have passed to `dump` of the recorder. Default: the
        ///     standard names.
        ///   - clock: the clock for the recorded waits. The trait moves it while the test runs. If your client retries
        ///     with a clock, pass that clock, so that its waits take no time, too. Default: a new clock for each test
        ///     case.
        ///   - source: the path of the source file. Default: the calling file.
        public static func replaying(
            _ path: String, matching: Cassette.Matching = .init(), redaction: Redaction = .standard,
            clock: TestClock? = nil, in source: String = #filePath
        ) -> Self {
            ReplayingTrait(
                file: URL(filePath: source).deletingLastPathComponent().appending(path: path), matching: matching,
                redaction: redaction, clock: clock)
        }
    }
#endif
