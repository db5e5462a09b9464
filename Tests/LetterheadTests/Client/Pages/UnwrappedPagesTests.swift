// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// Pages with a value that is a part of what the server sends.
@Suite(.timeLimit(.minutes(3)))
struct UnwrappedPagesTests {
    struct Envelope: Decodable, Sendable {
        var data: [Int]
        var next: String?
    }

    private let pages: [PagedServer.Answer] = [
        .init("/numbers", #"{"data":[1,2],"next":"c1"}"#), .init("/numbers?after=c1", #"{"data":[3],"next":"c2"}"#),
        .init("/numbers?after=c2", #"{"data":[4],"next":null}"#),
    ]
    private let template = Get<Envelope>("numbers").paginated(by: .cursor(\.next, parameter: "after"))
        .unwrapping(\.data)

    @Test func `each page has the part as its value, and the whole response leads to the next`() async throws {
        let paged = try await PagedServer(pages)
        let arrived = try await paged.client.pages(of: template).collect()
        #expect(arrived.map(\.value) == [[1, 2], [3], [4]] && arrived.map(\.number) == [1, 2, 3])
        #expect(arrived.last?.checkpoint == nil)
        #expect(paged.targets == ["/numbers", "/numbers?after=c1", "/numbers?after=c2"])
    }

    @Test func `items, a pager, prefetch and a checkpoint work with unwrapped pages`() async throws {
        let paged = try await PagedServer(pages)
        #expect(try await paged.client.items(of: template).collect() == [1, 2, 3, 4])
        let ahead = paged.client.pages(of: template, settings: PageSettings(prefetches: true))
        #expect(try await ahead.collect().map(\.value) == [[1, 2], [3], [4]])
        let pager = paged.client.pager(of: template)
        let first = try await pager.next()
        #expect(first?.value == [1, 2])
        let resumed = try await paged.client.pages(of: template, from: first?.checkpoint).collect()
        #expect(resumed.map(\.value) == [[3], [4]] && resumed.map(\.number) == [2, 3])
        await paged.stop()
    }

    @Test func `pages can be decorated and unwrapped twice`() async throws {
        let paged = try await PagedServer(pages)
        let counts = template.unwrapping(\.count).header("X-Mark", "1").timeout(.seconds(60))
        #expect(try await paged.client.pages(of: counts).collect().map(\.value) == [2, 1, 1])
        #expect(paged.server.requests.map { $0.headers["X-Mark"] } == ["1", "1", "1"])
    }

    @Test func `an envelope can be unwrapped before it is paginated`() async throws {
        let paged = try await PagedServer([
            .init("/numbers?page=1", #"{"data":[1,2]}"#), .init("/numbers?page=2", #"{"data":[3]}"#),
        ])
        let template = Get<Envelope>("numbers").unwrapping(\.data).paginated(size: 2)
        #expect(try await paged.client.items(of: template).collect() == [1, 2, 3])
        await paged.stop()
    }
}
