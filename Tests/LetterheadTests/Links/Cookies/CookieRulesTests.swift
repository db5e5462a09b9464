// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Letterhead

@Suite struct CookieRulesTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func cookie(
        _ field: String, from url: String = "https://www.example.com/a/b",
        isPublicSuffix: (String) -> Bool = { _ in false }
    ) throws -> CookieJar.Cookie {
        let target = try #require(CookieTarget(try HTTPRequest(url)))
        guard let parsed = SetCookie(field) else { throw CookieRules.Refusal.malformed }
        return try CookieRules.cookie(parsed, from: target, now: Self.now, isPublicSuffix: isPublicSuffix)
    }

    private func refusal(_ field: String, from url: String = "https://www.example.com/a/b") -> CookieRules.Refusal? {
        do { _ = try cookie(field, from: url) } catch { return error as? CookieRules.Refusal }
        return nil
    }

    @Test func `a field has a name, a value and attributes`() throws {
        let all = try cookie(
            " id = a=b ; Domain=.Example.com; Path=/x; Secure; HttpOnly; SameSite=lax; Max-Age=60; Unknown=1")
        #expect(all.name == "id" && all.value == "a=b" && all.domain == "example.com" && !all.isHostOnly)
        #expect(all.path == "/x" && all.isSecure && all.isHTTPOnly && all.sameSite == .lax)
        #expect(all.expires == Self.now + 60)
        let plain = try cookie("value")
        #expect(plain.name == "" && plain.value == "value" && plain.isHostOnly && plain.domain == "www.example.com")
        #expect(plain.path == "/a" && plain.expires == nil && !plain.isSecure && plain.sameSite == nil)
    }

    @Test(arguments: [
        ("", CookieRules.Refusal.malformed), ("=", .malformed), ("a=b\u{1}", .malformed), ("a=b\u{7F}", .malformed),
        ("__Secure-a=b", .prefix), ("__secure-a=b; Domain=example.com", .prefix), ("=__Host-a=b", .malformed),
        ("__Host-a=b; Secure; Path=/; Domain=www.example.com", .prefix), ("__Host-a=b; Secure", .prefix),
        ("__HOST-a=b; Secure; Path=/x", .prefix), ("a=b; Domain=other.com", .otherDomain),
        ("a=b; Domain=ample.com", .otherDomain), ("a=b; Domain=com", .publicSuffix),
        ("a=b; Domain=x.www.example.com", .otherDomain),
    ])
    func `a cookie that the standard refuses is refused with a reason`(field: String, reason: CookieRules.Refusal) {
        #expect(refusal(field) == reason)
    }

    @Test func `a cookie with a prefix is stored if it fulfills the conditions`() throws {
        #expect(try cookie("__Host-a=b; Secure; Path=/").isHostOnly)
        #expect(try cookie("__Secure-a=b; Secure; Domain=example.com").domain == "example.com")
    }

    @Test func `Secure needs https, and addresses and single labels have no parent domains`() throws {
        #expect(refusal("a=b; Secure", from: "http://example.com/") == .insecure)
        #expect(refusal("a=b; Domain=0.0.1", from: "http://127.0.0.1/") == .publicSuffix)
        #expect(try cookie("a=b; Domain=127.0.0.1", from: "http://127.0.0.1/").isHostOnly)
        #expect(try cookie("a=b; Domain=localhost", from: "http://localhost/").isHostOnly)
        #expect(refusal("a=b; Domain=[::1]", from: "http://[::2]/") == .publicSuffix)
    }

    @Test func `a public suffix is refused, except for the host itself`() throws {
        let isSuffix = { (domain: String) in domain == "co.uk" || domain == "github.io" }
        #expect(throws: CookieRules.Refusal.publicSuffix) {
            _ = try cookie("a=b; Domain=co.uk", from: "https://x.co.uk/", isPublicSuffix: isSuffix)
        }
        #expect(try cookie("a=b; Domain=github.io", from: "https://github.io/", isPublicSuffix: isSuffix).isHostOnly)
    }

    @Test func `Max-Age takes precedence over Expires, and a cookie lives at most 400 days`() throws {
        let longest = Self.now + 400 * 86_400
        #expect(try cookie("a=b; Max-Age=99999999999999999999").expires == longest)
        #expect(try cookie("a=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT").expires == longest)
        #expect(try cookie("a=b; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT").expires == Self.now + 10)
        #expect(try cookie("a=b; Max-Age=-1; Expires=Fri, 31 Dec 9999 23:59:59 GMT").hasExpired(at: Self.now))
        #expect(try cookie("a=b; Max-Age=0").hasExpired(at: Self.now))
        #expect(try cookie("a=b; Max-Age=; Expires=soon").expires == nil)
        #expect(try cookie("a=b; Max-Age=+1; Max-Age=1.5").expires == nil)
    }

    @Test func `4096 bytes of name and value are accepted, and longer attributes are ignored`() throws {
        #expect(try cookie("a=" + String(repeating: "b", count: 4095)).size == 4096)
        #expect(refusal("a=" + String(repeating: "b", count: 4096)) == .malformed)
        #expect(try cookie("a=b; Path=/" + String(repeating: "b", count: 1024)).path == "/a")
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("6 nov 94 8:49:37", 784_111_777),
        ("Nov/6/1994/08:49:37", 784_111_777), ("08:49:37xyz 6th November 1994", 784_111_777),
        ("Thu, 01-Jan-1970 00:00:00 GMT", 0), ("1 Jan 2069 00:00:00", 3_124_224_000),
        ("29 Feb 2024 00:00:00", 1_709_164_800),
    ])
    func `a date is read in every form`(text: String, seconds: Int64) {
        #expect(CookieDate.seconds(of: text) == seconds)
    }

    @Test(arguments: [
        "", "Sun, 06 Nov 1994", "08:49:37 Nov 1994", "32 Jan 1994 00:00:00", "30 Feb 1994 00:00:00",
        "1 Jan 1600 00:00:00", "1 Jan 1994 24:00:00", "1 Jan 1994 00:60:00", "1 Jan 1994 00:00", "1 Foo 1994 00:00:00",
        "29 Feb 2023 00:00:00", "91:22:33 21:01:22 1 Jan 1994", "1 Jan 1994 00:61:00 00:00:01",
    ])
    func `a text that is not a date is refused`(text: String) {
        #expect(CookieDate.seconds(of: text) == nil)
    }

    @Test(arguments: [
        ("/", "/", true), ("/a", "/", true), ("/a/b", "/a", true), ("/ab", "/a", false), ("/a/b", "/a/", true),
        ("/a", "/a/", false), ("/a", "/a", true), ("/", "/a", false),
    ])
    func `a path matches itself and what is below it`(path: String, cookiePath: String, matches: Bool) {
        #expect(CookieRules.pathMatches(path, cookiePath) == matches)
    }
}
