// SPDX-License-Identifier: MIT
import TestKit
import Testing

#if os(Linux)
    /// What a server sends reaches no trap and no endless loop, and costs no more than its length.
    @Suite(.timeLimit(.minutes(5)))
    struct FuzzTests {
        /// More of them: `swift run fuzz 10000000`.
        @Test func `a thousand mutated inputs are parsed without a crash, in linear time`() async throws {
            let (status, output) = try await ChildProcess.run(ofPackage: "fuzz", ["1000"], seconds: 280)
            #expect(status == 0, "\(output)")
            #expect(output.contains("ok: 1000 inputs"))
        }
    }
#endif
