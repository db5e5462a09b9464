// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRelay
import LetterheadTesting
import TestKit
import Testing

/// Text of the other end is compared as bytes: Swift compares strings and keys by canonical equivalence, which takes
/// quadratic time in the number of consecutive combining marks.
@Suite(.timeLimit(.minutes(3))) struct RelayMarksTests {
    private static let marks = String(repeating: "\u{301}\u{316}", count: 25_000)

    private static func relayed(_ members: String) {
        guard let request = try? HTTPRequest("https://h/") else { return }
        let answer = Data((#"{"letterhead":1,"# + members + "}\n").utf8)
        do { _ = try WireForm().response(from: answer, to: request) } catch {
            _ = error.code == .cancelled || "\(error)".isEmpty
        }
        _ = try? WireForm().request(from: answer)
    }

    private static let target = #""target":{"host":"h","path":"/a","query":""}"#

    /// A message with the text M.
    @Test(arguments: [
        #""failure":{"code":"M","mayHaveBeenSent":false,"message":"M"}"#,
        #""response":{"headers":[["M","a"]],"headersLeftOut":["M"],"status":200}"#,
        #""response":{"headers":[],"status":200,"sentTo":{"scheme":"M","host":"h","path":"h","query":"h"}}"#,
        #""response":{"headers":[],"status":200,"sentTo":{"host":"M","path":"h","query":"h"}}"#,
        #""response":{"headers":[],"status":200,"sentTo":{"host":"h","path":"M","query":"h"}}"#,
        #""response":{"headers":[],"status":200,"sentTo":{"host":"h","path":"h","query":"M"}}"#,
        #""request":{"headers":[],"settings":{"secretParameters":["M","a"]},T}"#,
        #""request":{"headers":[],"settings":{"secretHeaders":["M","a"]},T}"#,
        #""request":{"headers":[],"settings":{"secretValues":["M","a"]},T}"#,
        #""request":{"headers":[],"settings":{"removedHeaders":["M","a"]},T}"#,
        #""request":{"headers":[],"settings":{"route":"M"},T}"#,
        #""request":{"headers":[],"id":"M","method":"M","settings":{},T}"#,
        #""request":{"headers":[],"options":{"M":1},"settings":{},T}"#, #""M":1"#,
    ]) func `a message with combining marks is read in linear time`(members: String) {
        let text = members.replacing("\"M\"", with: "\"\(Self.marks)\"").replacing("T}", with: "\(Self.target)}")
        let seconds = threadTime { Self.relayed(text) }
        #expect(seconds < 2, "\(seconds) s")
    }

    @Test func `an id of combining marks is read in linear time`() async {
        let server = RelayServer(MockLoader { .ok($0) })
        let start = ContinuousClock.now
        _ = await server.answer(Data(#"{"letterhead":1,"cancel":"\#(Self.marks)"}\#n"#.utf8))
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}
