// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Testing

    @testable import Letterhead

    /// What carries the HTTP/1.1 transfers of a test. ``BothCarriers`` runs the tests of a suite with each.
    enum Carrier: String, CaseIterable {
        case libcurl, direct

        @TaskLocal static var current = Carrier.direct

        /// Creates a transport whose transfers the current carrier carries, if it can.
        static func loader(_ configuration: TransportConfiguration = TransportConfiguration()) -> CurlLoader {
            var configuration = configuration
            configuration.sendsHTTP1Directly = current == .direct
            if current == .direct, configuration.httpVersions == .http2 { configuration.httpVersions = .http1 }
            return CurlLoader(configuration)
        }
    }

    /// Runs each test of a suite once with each carrier, or with the one that the variable `CARRIER` names.
    struct BothCarriers: SuiteTrait, TestTrait, TestScoping {
        let isRecursive = true

        @concurrent
        func provideScope(
            for test: Test, testCase: Test.Case?, performing run: @Sendable @concurrent () async throws -> Void
        ) async throws {
            let chosen = ProcessInfo.processInfo.environment["CARRIER"].flatMap(Carrier.init)
            for carrier in chosen.map({ [$0] }) ?? Carrier.allCases {
                try await Carrier.$current.withValue(carrier) { try await run() }
            }
        }
    }

    extension Trait where Self == BothCarriers {
        static var bothCarriers: BothCarriers { BothCarriers() }
    }
#endif
