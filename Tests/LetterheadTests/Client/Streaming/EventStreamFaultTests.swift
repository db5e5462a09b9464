// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadStreaming
    import LetterheadTesting
    import TestKit
    import Testing

    /// The fault matrix over responses that are read as events, as lines and as JSON values: what arrived before a
    /// fault is delivered, and the fault is the error of the sequence.
    @Suite(.timeLimit(.minutes(5)))
    struct EventStreamFaultTests {
        enum Reading: String, CaseIterable {
            case events, lines, values

            static let count = 600

            var body: MockServer.Response {
                let type = self == .events ? "text/event-stream" : "application/x-ndjson"
                let text = (0..<Self.count).map { number in
                    let value = "\"\(number) \(String(repeating: "x", count: 80))\""
                    return self == .events ? "data: \(value)\n\n" : "\(value)\n"
                }
                return MockServer.Response(headers: ["Content-Type": type], body: Data(text.joined().utf8))
            }

            /// Returns the texts that were delivered, and the error that ended the sequence.
            func read(_ endpoint: some RequestTemplate, with client: HTTPClient) async -> ([String], HTTPError?) {
                var texts: [String] = []
                do {
                    switch self {
                    case .events: for try await event in client.events(of: endpoint) { texts.append(event.data) }
                    case .lines:
                        for try await line in try await client.stream(endpoint).body.lines { texts.append(line) }
                    case .values:
                        for try await value in client.values(of: endpoint, as: String.self) {
                            texts.append("\"\(value)\"")
                        }
                    }
                    return (texts, nil)
                } catch {
                    let unknown = HTTPError(.unknown, request: HTTPRequest(), underlying: error)
                    return (texts, error as? HTTPError ?? unknown)
                }
            }
        }

        @Test(arguments: Reading.allCases)
        func `every fault in every phase delivers the received events, and then its error`(reading: Reading)
            async throws
        {
            let server = try await MockServer.start { _ in reading.body }
            let cells = FaultMatrix.cells.filter { $0.delivery == .streamed }
            for cell in cells {
                server.enqueue(.closure.fault(cell.effect.effect, at: cell.moment).when { $0.path == cell.path })
            }
            let failures = await withTaskGroup(of: String?.self) { group -> [String] in
                for cell in cells { group.addTask { await Self.failure(of: cell, reading, server) } }
                return await group.reduce(into: []) { failures, failure in failures += failure.map { [$0] } ?? [] }
            }
            await server.stop()
            #expect(failures.isEmpty, "of \(cells.count) cells: \(failures.joined(separator: "\n"))")
            #expect(cells.count == 75)
        }

        private static func failure(
            of cell: FaultMatrix.Cell, _ reading: Reading, _ server: MockServer
        ) async -> String? {
            var configuration = TransportConfiguration()
            configuration.idleTimeout = cell.expected == .timedOut ? .seconds(1) : .seconds(60)
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url), transport: CurlLoader(configuration))
            var endpoint = TestEndpoint("\(cell.number)")
            endpoint.method = cell.method
            let (texts, error) = await reading.read(endpoint, with: client)
            let isPrefix = texts.enumerated().allSatisfy { $0.element.hasPrefix("\"\($0.offset) ") }
            guard isPrefix else { return "\(cell.name): the delivered values are not the first ones" }
            guard error?.code == cell.expected else {
                return "\(cell.name): \(error?.code.rawValue ?? "success"), not \(cell.expected?.rawValue ?? "success")"
            }
            guard error != nil || texts.count == Reading.count else { return "\(cell.name): \(texts.count) values" }
            return nil
        }
    }
#endif
