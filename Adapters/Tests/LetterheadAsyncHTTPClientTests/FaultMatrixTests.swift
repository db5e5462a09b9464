// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadAsyncHTTPClient
import LetterheadTesting
import Testing

/// What must become of a request when a fault strikes at a moment of its exchange: five moments, five effects, three
/// methods, two ways to hand the body over.
struct FaultMatrix {
    enum Effect: CaseIterable {
        case close, halfClose, reset, stall, slow

        var effect: MockServer.Effect {
            switch self {
            case .close: .close
            case .halfClose: .halfClose
            case .reset: .reset
            case .stall: .stall
            case .slow: .slow(bytes: 20_000, every: .milliseconds(2))
            }
        }
    }

    struct Cell: Sendable {
        let number: Int
        let moment: MockServer.Moment
        let effect: Effect
        let method: HTTPMethod
        let delivery: HTTPResponse.Delivery

        /// The code of the error, or nil for the whole response.
        var expected: HTTPError.Code? {
            switch (moment, effect) {
            case (_, .slow), (.responseEnd, _): nil
            case (_, .stall): .timedOut
            case (.responseBody, .close), (.responseBody, .halfClose): .invalidResponse
            default: .connectionLost
            }
        }

        var path: String { "/\(number)" }

        var name: String { "\(method) \(delivery), \(effect) at \(moment)" }
    }

    static let cells: [Cell] = {
        var cells: [Cell] = []
        for moment in MockServer.Moment.allCases {
            for effect in Effect.allCases {
                for method in [HTTPMethod.get, .post, .put] {
                    for delivery in [HTTPResponse.Delivery.buffered, .streamed] {
                        cells.append(
                            Cell(
                                number: cells.count, moment: moment, effect: effect, method: method, delivery: delivery)
                        )
                    }
                }
            }
        }
        return cells
    }()

    private static let answer = Data((0..<60_000).map { UInt8(truncatingIfNeeded: $0) })
    private static let question = Data(count: 100_000)

    /// Runs all cells, each with a separate loader, and returns those with another result than expected.
    static func failures(_ makeLoader: @escaping @Sendable (Cell) -> any HTTPLoader) async throws -> [String] {
        let server = try await MockServer.start { _ in MockServer.Response(body: answer) }
        for cell in cells {
            server.enqueue(.closure.fault(cell.effect.effect, at: cell.moment).when { $0.path == cell.path })
        }
        let failures = await withTaskGroup(of: String?.self) { group -> [String] in
            for cell in cells { group.addTask { await failure(of: cell, server, makeLoader(cell)) } }
            return await group.reduce(into: [String]()) { failures, failure in
                if let failure { failures.append(failure) }
            }
        }
        await server.stop()
        return failures
    }

    private static func failure(of cell: Cell, _ server: MockServer, _ loader: any HTTPLoader) async -> String? {
        var request = HTTPRequest(method: cell.method, url: server.url.appending(path: cell.path))
        request.responseDelivery = cell.delivery
        if cell.method != .get { request.body = DataBody(question) }
        let outcome: HTTPError.Code?
        do {
            let body = try await loader.load(request).body.data()
            guard body == answer else { return "\(cell.name): a body of \(body.count) bytes" }
            outcome = nil
        } catch {
            outcome = (error as? HTTPError)?.code ?? .unknown
        }
        return outcome == cell.expected
            ? nil : "\(cell.name): \(outcome?.rawValue ?? "success"), not \(cell.expected?.rawValue ?? "success")"
    }
}

@Suite(.timeLimit(.minutes(5)))
struct FaultMatrixTests {
    @Test func `every fault in every phase has its documented result`() async throws {
        let failures = try await FaultMatrix.failures { cell in
            // Only a request that must time out does so soon: no busy machine makes the others time out.
            AsyncHTTPClientLoader(idleTimeout: cell.expected == .timedOut ? .seconds(1) : .seconds(60))
        }
        #expect(failures.isEmpty, "of \(FaultMatrix.cells.count) cells: \(failures.joined(separator: "\n"))")
        #expect(FaultMatrix.cells.count == 150)
    }
}
