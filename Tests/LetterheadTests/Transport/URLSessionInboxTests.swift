import Foundation
import Testing

@testable import Letterhead

@Suite struct URLSessionInboxTests {
    @Test func `a task rests once however much arrives while it comes to rest, and goes on once`() {
        var inbox = URLSessionInbox()
        var rests: [Bool] = []
        for _ in 0..<4 {
            _ = inbox.add(Data(count: 10), limit: .max)
            rests.append(inbox.beginsRest(above: 15))
        }
        #expect(rests == [false, true, false, false])
        var ends = [inbox.endsRest(upTo: 15)]
        _ = inbox.takeAll()
        ends += [inbox.endsRest(upTo: 15), inbox.endsRest(upTo: 15)]
        #expect(ends == [false, true, false])
        _ = inbox.add(Data(count: 20), limit: .max)
        let restsAgain = inbox.beginsRest(above: 15)
        #expect(restsAgain)
    }

    @Test func `what does not rest does not go on`() {
        var inbox = URLSessionInbox()
        let ends = inbox.endsRest(upTo: 15)
        #expect(!ends)
    }

    @Test func `more than the limit is not taken`() {
        var inbox = URLSessionInbox()
        _ = inbox.add(Data(count: 10), limit: 15)
        guard case .overflow = inbox.add(Data(count: 6), limit: 15) else {
            Issue.record("16 bytes were held")
            return
        }
        #expect(inbox.heldBytes == 10)
    }
}
