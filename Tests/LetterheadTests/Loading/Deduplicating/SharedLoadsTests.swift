import LetterheadTesting
import Testing

@testable import Letterhead

@Suite struct SharedLoadsTests {
    private struct Owner: LoadOwner {
        func end(_ load: OwnedLoad, with result: Result<HTTPResponse, HTTPError>) -> Result<HTTPResponse, HTTPError>? {
            nil
        }
    }

    /// A load as it should be: which requests it is for, whether newcomers join it, and who waits.
    private struct Expected {
        let path: Int
        var isOpen = true
        var waiting: [(place: SharedLoads.Place, waiter: SharedLoads.Waiter)] = []
    }

    @Test(arguments: 0..<20) func `whatever happens, each waits for one load of its own kind`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var loads = SharedLoads()
        var expected: [ObjectIdentifier: Expected] = [:]
        var kept: [ObjectIdentifier: OwnedLoad] = [:]
        // Few at a time and many at a time: the lone load is kept apart from the others.
        let busy = seed % 2 == 0 ? 3 : 6
        for _ in 0..<2_000 {
            let ids = expected.keys.sorted { "\($0)" < "\($1)" }
            let chosen = ids.isEmpty ? nil : ids[Int(random.next() % UInt64(ids.count))]
            switch (random.next() % 10, chosen) {
            case (0..<UInt64(busy), _), (_, nil):
                let path = Int(random.next() % 3)
                var request = HTTPRequest()
                request.path = "/\(path)"
                let sent = request
                let key = try #require(DeduplicationKey(sent, ignoring: []))
                let waiter = SharedLoads.Waiter()
                let place = loads.join(key, waiter) { OwnedLoad(sent, next: MockLoader(), owner: Owner()) }
                let id = ObjectIdentifier(place.load)
                let open = expected.first { $0.value.path == path && $0.value.isOpen }
                #expect(place.isFirst == (open == nil) && (open == nil || open?.key == id))
                expected[id, default: Expected(path: path)].waiting.append((place, waiter))
                kept[id] = place.load
            case (7, let id?):
                let (keptLoad, expectedLoad) = (kept.removeValue(forKey: id), expected.removeValue(forKey: id))
                let (load, ended) = (try #require(keptLoad), try #require(expectedLoad))
                let told = loads.finish(load)
                let all = [told.first].compactMap { $0 } + told.others
                #expect(all.map { ObjectIdentifier($0) } == ended.waiting.map { ObjectIdentifier($0.waiter) })
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
