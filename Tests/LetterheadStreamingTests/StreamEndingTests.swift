// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadStreaming
    import LetterheadTesting
    import TestKit
    import Testing

    /// What remains of a stream after its reader has ended it: nothing, on either side.
    @Suite(.timeLimit(.minutes(5)))
    struct StreamEndingTests {
        enum Kind: CaseIterable {
            case events, lines, values, bytes, data

            var type: String {
                switch self {
                case .events: "text/event-stream"
                case .lines, .bytes, .data: "text/plain"
                case .values: "application/x-ndjson"
                }
            }
            var element: String { self == .events ? "data: 1\n\n" : "1\n" }

            /// Calls a closure with each element, until it returns false.
            func read(from client: HTTPClient, _ use: () -> Bool) async throws {
                switch self {
                case .events: for try await _ in client.events(of: TestEndpoint()) where !use() { return }
                case .lines:
                    for try await _ in try await client.stream(TestEndpoint()).body.lines where !use() { return }
                case .values: for try await _ in client.values(of: TestEndpoint(), as: Int.self) where !use() { return }
                case .bytes: for try await _ in try await client.stream(TestEndpoint()).body where !use() { return }
                case .data:
                    let body = try await client.stream(TestEndpoint()).body
                    if use() { _ = try await body.data() }
                }
            }
        }

        enum Ending: CaseIterable {
            case cancelled, reset, dropped
        }

        /// A server that sends an element and then nothing, until its client closes the connection.
        private func silentServer(_ kind: Kind, _ closed: DispatchSemaphore) -> RawServer {
            RawServer { connection, _ in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Type: \(kind.type)\r\n\r\n\(kind.element)")
                if connection.waitForEnd() { closed.signal() }
                connection.close()
            }
        }

        @Test(arguments: Kind.allCases, Ending.allCases)
        func `ending a stream closes its connection, and leaves no task`(kind: Kind, ending: Ending) async throws {
            let (closed, arrived) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = silentServer(kind, closed)
            try await withLeakCheck(grace: .seconds(30)) {
                let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url()), transport: CurlLoader())
                let reading = Task {
                    try await kind.read(from: client) {
                        arrived.signal()
                        return ending != .dropped
                    }
                }
                #expect(await arrived.isSignaled())
                switch ending {
                case .cancelled: reading.cancel()
                case .reset: await client.reset()
                case .dropped: break
                }
                #expect(await closed.isSignaled())
                let result = await reading.result
                switch ending {
                case .cancelled: #expect(throws: CancellationError.self) { try result.get() }
                case .reset:
                    let error = #expect(throws: HTTPError.self) { try result.get() }
                    #expect(error?.code == .cancelled)
                case .dropped: #expect(throws: Never.self) { try result.get() }
                }
            }
        }
    }
#endif
