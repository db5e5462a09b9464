// SPDX-License-Identifier: MIT
import Testing

@testable import Letterhead
@testable import LetterheadCaching

@Suite struct CacheControlTests {
    @Test(arguments: [
        ("max-age=60", 60 as Int64?), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("max-age=0060", 60),
        ("a, max-age=60 ,b", 60), ("max-age=99999999999999999999999", 1 << 31), ("max-age=-1", 0), ("max-age=1.5", 0),
        ("max-age='60'", 0), ("max-age", 0), ("max-age=", 0), ("max-age = 60", 0), ("max-age=60, max-age=60", 60),
        ("max-age=60, max-age=61", 0), ("a=\"max-age=60\"", nil), ("a=\"\\\"max-age=60\", b", nil), ("", nil),
        (",,;;", nil), ("max-age=1, a=\"max-age=60\"", 1),
    ])
    func `the seconds of a directive are read`(text: String, seconds: Int64?) {
        #expect(CacheControl([text]).seconds("max-age") == seconds)
    }

    @Test func `directives of several lines are joined`() {
        let control = CacheControl(["no-store, max-stale", "private=\"a, b\", max-age=5"])
        #expect(control.contains("no-store") && control.contains("private") && control.seconds("max-age") == 5)
        #expect(control.isBare("max-stale") && !control.isBare("private") && !control.contains("b"))
    }
}
