import LetterheadTesting
import Testing

@testable import Letterhead

@Suite struct SharedLoadsTests {
    /// The expected state of a load: its requests, whether new requests join it, and which of them wait.
    private struct Expected {
        let path: Int
        var isOpen = true
        var waiting: [(place: SharedLoads.Place, waiter: SharedLoads.Waiter)] = []
    }

    @Test(arguments: 0..<20) func `each request waits for one load of the same kind, in every order of events`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var loads = SharedLoads()
        var expected: [ObjectIdentifier: Expected] = [:]
        var kept: [ObjectIdentifier: OwnedWork] = [:]
        var order: [ObjectIdentifier] = []
        // Few loads at a time, and many.
        let (paths, finishing) = seed % 2 == 0 ? (UInt64(1), UInt64(5)..<8) : (3, 7..<8)
        for _ in 0..<2_000 {
            order.removeAll { expected[$0] == nil }
            let chosen = order.isEmpty ? nil : order[Int(random.next() % UInt64(order.count))]
            switch (random.next() % 10, chosen) {
            case (0..<4, _), (_, nil):
                let path = Int(random.next() % paths)
                var request = HTTPRequest()
                request.path = "/\(path)"
                let sent = request
                let key = try #require(DeduplicationKey(sent, ignoring: []))
                let waiter = SharedLoads.Waiter()
                let place = loads.join(key, waiter) { OwnedWork() }
                let id = ObjectIdentifier(place.load)
                let open = expected.first { $0.value.path == path && $0.value.isOpen }
                #expect(place.isFirst == (open == nil) && (open == nil || open?.key == id))
                expected[id, default: Expected(path: path)].waiting.append((place, waiter))
                if kept.updateValue(place.load, forKey: id) == nil { order.append(id) }
            case (finishing, let id?):
                let (keptLoad, expectedLoad) = (kept.removeValue(forKey: id), expected.removeValue(forKey: id))
                let (load, ended) = (try #require(keptLoad), try #require(expectedLoad))
                #expect(
                    loads.finish(load).waiters.map { ObjectIdentifier($0) }
                        == ended.waiting.map { ObjectIdentifier($0.waiter) })
                for gone in ended.waiting { #expect(loads.leave(gone.place).waiter == nil) }
            case (_, let id?):
                guard let count = expected[id]?.waiting.count, count > 0 else { break }
                guard let gone = expected[id]?.waiting.remove(at: Int(random.next() % UInt64(count))) else { break }
                let left = loads.leave(gone.place)
                #expect(left.waiter === gone.waiter && left.isLast == (count == 1))
                if count == 1 { expected[id]?.isOpen = false }
            }
            #expect(loads.running == expected.count)
            #expect(loads.waiting == expected.values.reduce(0) { $0 + $1.waiting.count })
            #expect(Set(loads.all.map { ObjectIdentifier($0) }) == Set(expected.keys))
        }
    }
}
