// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Bodies that are streamed, in both directions.
extension TransportTests {
    @Test(arguments: Transport.allCases)
    func `a streamed body is read in pieces and iterated once`(_ transport: Transport) async throws {
        let server = try await echo()
        let request = request(.get, "large", on: server).with { $0.responseDelivery = .streamed }
        let response = try await transport.loader.load(request)
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        #expect(count == 3_000_000)
        await #expect(throws: HTTPBodyError.alreadyRead) { for try await _ in response.body {} }
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `dropping a streamed body leaves the transport able to load`(_ transport: Transport) async throws {
        let server = try await echo()
        let loader = transport.loader
        let request = request(.get, "large", on: server).with { $0.responseDelivery = .streamed }
        for _ in 0..<3 {
            for try await _ in try await loader.load(request).body { break }
        }
        #expect(try await loader.load(self.request(.get, "200", on: server)).status == .ok)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a streamed body that is read into memory is bounded`(_ transport: Transport) async throws {
        let server = try await echo()
        let request = request(.get, "large", on: server).with { $0.responseDelivery = .streamed }
        let response = try await transport.loader.load(request)
        await #expect(throws: HTTPBodyError.tooLarge(limit: 1_000_000)) {
            try await response.body.data(upTo: 1_000_000)
        }
        await server.stop()
    }

    @Test(arguments: Transport.allCases, [HTTPResponse.Delivery.buffered, .streamed])
    func `a body of unknown length is sent completely`(_ transport: Transport, delivery: HTTPResponse.Delivery)
        async throws
    {
        let server = try await echo()
        var request = request(.post, "echo", on: server)
        request.body = Numbered()
        request.responseDelivery = delivery
        #expect(try await transport.loader.load(request).body.data() == Numbered.whole)
        await server.stop()
    }
}

/// A body of a hundred pieces and of unknown length.
private struct Numbered: HTTPBody {
    var contentLength: Int? { nil }

    func chunks() -> BodyChunks {
        let next = Counter()
        return BodyChunks {
            let number = next.next() - 1
            return number < Self.count ? Data(repeating: UInt8(number), count: 5000) : nil
        }
    }

    static let count = 100
    static let whole = Data((0..<count).flatMap { [UInt8](repeating: UInt8($0), count: 5000) })
}
