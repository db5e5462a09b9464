// SPDX-License-Identifier: MIT
import Foundation
import TestKit
import Testing

@testable import Letterhead

@Suite(.timeLimit(.minutes(3))) struct SuggestedFilenameTests {
    private static func response(_ fields: [String], from url: String = "https://h/") throws -> HTTPResponse {
        let headers = HTTPHeaders(fields.map { HTTPHeaders.Field(.contentDisposition, $0) })
        return HTTPResponse(request: try HTTPRequest(url), status: 200, headers: headers)
    }

    @Test(
        arguments: [
            // The forms of RFC 6266, 4.1.
            ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a b.txt\"", "a b.txt"),
            ("inline; filename=\"a.txt\"", "a.txt"), ("other; filename=\"a.txt\"", "a.txt"),
            ("ATTACHMENT; FILENAME=\"a.txt\"", "a.txt"), ("attachment;filename = \"a.txt\" ; size=1", "a.txt"),
            ("attachment; size=\"1;filename=b\"; filename=\"a.txt\"", "a.txt"),
            ("attachment; filename=\"a\\\"b.txt\"", "a\"b.txt"), ("attachment; filename=\"a;b,c.txt\"", "a;b,c.txt"),
            // What servers send although the RFC does not allow it.
            ("attachment; filename=a b,c.txt", "a b,c.txt"), ("filename=a.txt", "a.txt"),
            ("attachment; filename=\"a.txt", "a.txt"), ("attachment; filename=\"a.txt\"; filename=\"b.txt\"", "a.txt"),
            ("attachment; filename=\"naïve.txt\"", "naïve.txt"), ("attachment; filename=\"🎈.txt\"", "🎈.txt"),
            ("attachment; filename=\"na\u{C3}\u{AF}ve.txt\"", "naïve.txt"),
            ("attachment; filename=\"na\u{EF}ve \u{FF}.txt\"", "naïve ÿ.txt"),
            ("attachment; filename=\"na%C3%AFve%20a.txt\"", "naïve a.txt"),
            ("attachment; filename=\"100%.txt\"", "100%.txt"), ("attachment; filename=\"%E9.txt\"", "%E9.txt"),
            ("attachment; filename=\"a%252Fb.txt\"", "a%2Fb.txt"),
            // Extended values (RFC 8187).
            ("attachment; filename=\"a.txt\"; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"),
            ("attachment; filename*=utf-8'en'%F0%9F%8E%88%20a.txt; filename=a.txt", "🎈 a.txt"),
            ("attachment; filename*=ISO-8859-1''na%EFve.txt; filename=a.txt", "naïve.txt"),
            ("attachment; filename*=\"UTF-8''b.txt\"; filename=a.txt", "b.txt"),
            ("attachment; filename*=UTF-8''a%2520b.txt", "a%20b.txt"), ("attachment; filename*=UTF-8''it's", "it's"),
            // Encoded words (RFC 2047) and numbered sections (RFC 2231).
            ("attachment; filename=\"=?UTF-8?B?bmHDr3ZlLnR4dA==?=\"", "naïve.txt"),
            ("attachment; filename=\"=?UTF-8?B?5pel5pys6KqeLmNzdg==?=\";", "日本語.csv"),
            ("attachment; filename=\"=?iso-8859-1?q?na=EFve_a.txt?=\"", "naïve a.txt"),
            ("attachment; filename=\"=?UTF-8?Q?na=C3=AF?= =?UTF-8?b?dmUudHh0?=\"", "naïve.txt"),
            ("attachment; filename==?UTF-8?Q?a.txt?=", "a.txt"),
            ("attachment; filename=\"=?UTF-8?Q?a=5Fb_100%41.txt?=\"", "a_b 100%41.txt"),
            ("attachment; filename=\"=?UTF-8?B?Li4vLi4vYS50eHQ=?=\"", "a.txt"),
            ("attachment; filename*0=\"long \"; filename*1=\"name.txt\"", "long name.txt"),
            ("attachment; filename*0*=UTF-8''na%C3; filename*1*=%AFve; filename*2=\"%41.txt\"", "naïve%41.txt"),
            ("attachment; filename*1=b.txt; filename*0*=ISO-8859-1'fr'%EF", "ïb.txt"),
            ("attachment; filename*0=a; filename*1=.txt; filename=c.txt", "c.txt"),
            ("attachment; filename*0=a.txt; filename*2=b", "a.txt"),
            ("attachment; filename=\"=?UTF-9?B?YQ==?=\"", "=?UTF-9?B?YQ==?="),
            ("attachment; filename=\"=?UTF-8?B?*?=\"", "=?UTF-8?B?*?="),
            // Malformed ones.
            ("attachment; filename*=UTF-8''b%; filename=a.txt", "a.txt"),
            ("attachment; filename*=UTF-8''b%4; filename=a.txt", "a.txt"),
            ("attachment; filename*=UTF-8''b%zz; filename=a.txt", "a.txt"),
            ("attachment; filename*=UTF-8''b%EF; filename=a.txt", "a.txt"),
            ("attachment; filename*=UTF-8''naïve; filename=a.txt", "a.txt"),
            ("attachment; filename*=UTF-8'b; filename=a.txt", "a.txt"),
            ("attachment; filename*=EBCDIC''b; filename=a.txt", "a.txt"),
            ("attachment; filename*=b.txt; filename=a.txt", "a.txt"),
            ("attachment; filename*=UTF-8''..; filename=a.txt", "a.txt"),
        ] as [(String, String)])
    func `a field names the file`(value: String, name: String) throws {
        #expect(try Self.response([value]).suggestedFilename == name)
    }

    @Test(
        arguments: [
            ("attachment; filename=\"/etc/passwd\"", "passwd"), ("attachment; filename=\"../../a.txt\"", "a.txt"),
            ("attachment; filename=\"..\\\\..\\\\a.txt\"", "a.txt"), ("attachment; filename=\"C:\\\\a.txt\"", "a.txt"),
            ("attachment; filename=\"..%2F..%5Ca.txt\"", "a.txt"), ("attachment; filename=\"..%252Fa\"", "%2Fa"),
            ("attachment; filename*=UTF-8''%2E%2E%2Fa.txt", "a.txt"), ("attachment; filename=\"a/\"", "a"),
            ("attachment; filename=\"/\u{301}a.txt\"", "\u{301}a.txt"), ("attachment; filename=\".bashrc\"", "bashrc"),
            ("attachment; filename=\"-rf.txt\"", "_-rf.txt"), ("attachment; filename=\"-\"", "_-"),
            ("attachment; filename=\" ..-a\"", "_-a"), ("attachment; filename=\"a-b\"", "a-b"),
            ("attachment; filename=\"\u{FEFF}.profile\u{200B}\"", "profile"),
            ("attachment; filename=\"\u{200D}\u{2060}.\u{AD}\u{FE0F}\"; filename*0=b", "b"),
            ("attachment; filename=\" ..a. . \"", "a"), ("attachment; filename=\"\u{202E}.a\"", "a"),
            ("attachment; filename=\"a%00b%0D%0A%7F\u{9B}.txt\"", "ab.txt"),
            ("attachment; filename=\"gpj\u{202E}.exe\"", "gpj.exe"), ("attachment; filename=\"CON\"", "CON"),
            ("attachment; filename=\"~\"", "~"), ("attachment; filename=\"-rf\"", "_-rf"),
        ] as [(String, String)])
    func `a name cannot leave its folder, hide, or contain control characters`(value: String, name: String) throws {
        #expect(try Self.response([value]).suggestedFilename == name)
    }

    @Test(
        arguments: [
            "", "attachment", "attachment; filename", "attachment; filename=", "attachment; filename=\"\"",
            "attachment; filename=\"..\"", "attachment; filename=\"../..\"", "attachment; filename=\"/\"",
            "attachment; filename=\"%2E\"", "attachment; filename=\"\u{1}\u{2028}\"", "attachment; filename=\" . \"",
            "attachment; name=\"b\"", "attachment; filename*=UTF-8''%2F", ";;;=", "\"",
        ])
    func `without a usable name, the URL names the file`(value: String) throws {
        #expect(try Self.response([value], from: "https://h/b/c%20%C3%AF.txt?d=e").suggestedFilename == "c ï.txt")
        #expect(try Self.response([value]).suggestedFilename == nil)
    }

    @Test(
        arguments: [
            ("https://h/a/b/", "b"), ("https://h/a%2Fb.txt", "b.txt"), ("https://h/%2E%2Ea", "a"),
            ("https://h/%FF.txt", "%FF.txt"), ("https://h/..", nil), ("https://h", nil), ("https://h/%00", nil),
        ] as [(String, String?)])
    func `the last component of the path is cleaned as well`(url: String, name: String?) throws {
        #expect(try Self.response([], from: url).suggestedFilename == name)
    }

    @Test func `fields that differ are ignored, and equal ones are not`() throws {
        let (first, second) = ("attachment; filename=a.txt", "attachment; filename=b.txt")
        #expect(try Self.response([first, second], from: "https://h/c").suggestedFilename == "c")
        #expect(try Self.response([first, first], from: "https://h/c").suggestedFilename == "a.txt")
    }

    @Test(
        arguments: [
            (String(repeating: "a", count: 300) + ".tar.gz", String(repeating: "a", count: 248) + ".tar.gz"),
            (String(repeating: "🎈", count: 100) + ".txt", String(repeating: "🎈", count: 62) + ".txt"),
            (String(repeating: "e\u{301}", count: 100), String(repeating: "e\u{301}", count: 85)),
            (
                String(repeating: "a", count: 254) + ".." + String(repeating: "b", count: 50),
                String(repeating: "a", count: 254)
            ),
            ("a." + String(repeating: "b", count: 300), "a." + String(repeating: "b", count: 253)),
            ("e" + String(repeating: "\u{301}", count: 200) + ".txt", "download.txt"),
        ])
    func `a long name is cut between characters, and keeps its extension`(long: String, name: String) throws {
        let suggested = try #require(try Self.response(["attachment; filename=\"\(long)\""]).suggestedFilename)
        #expect(suggested.unicodeScalars.elementsEqual(name.unicodeScalars) && suggested.utf8.count <= 255)
    }

    @Test(
        arguments: [
            ("a.txt", "a-12.txt"), ("a", "a-12"), ("a.tar.gz", "a-12.tar.gz"), ("tar.gz", "tar-12.gz"),
            (String(repeating: "a", count: 255), String(repeating: "a", count: 252) + "-12"),
        ])
    func `a number precedes the extension`(name: String, numbered: String) throws {
        #expect(try #require(Filename(name)).text(12) == numbered)
    }

    @Test func `a hostile field is read in linear time`() throws {
        let marks = String(repeating: "\u{301}\u{316}", count: 50_000)
        let values = [
            "\"\(marks)", "a\(marks).\(marks)", "\"" + String(repeating: "\\/.", count: 70_000), "%2E\(marks)",
        ]
        let responses = try values.flatMap { try [Self.response(["a; filename=\($0)"]), Self.response([";\($0)=a"])] }
        #expect(threadTime { for response in responses { _ = response.suggestedFilename } } < 2)
    }
}
