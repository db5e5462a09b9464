// SPDX-License-Identifier: MIT
#if os(Linux)
    @testable import Letterhead
    import LetterheadTesting
    import Testing

    @Suite(.bothCarriers, .timeLimit(.minutes(5)))
    struct FaultMatrixTests {
        @Test func `every fault in every phase has its documented result`() async throws {
            let failures = try await FaultMatrix.failures { cell in
                var configuration = TransportConfiguration()
                // Only a request that must time out does so soon: no busy machine makes the others time out.
                configuration.idleTimeout = cell.expected == .timedOut ? .seconds(1) : .seconds(60)
                return Carrier.loader(configuration)
            }
            #expect(failures.isEmpty, "of \(FaultMatrix.cells.count) cells: \(failures.joined(separator: "\n"))")
            #expect(FaultMatrix.cells.count == 150)
        }

        @Test func `a transport that always returns an empty 200 fails nearly all cases`() async throws {
            let failures = try await FaultMatrix.failures { _ in
                MockLoader { request in HTTPResponse(request: request, status: .ok) }
            }
            #expect(failures.count >= 140)
        }
    }
#endif
