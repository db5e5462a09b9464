// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct HTTPHeadersTests {
    @Test func `a name is found in any case, and is sent as it was spelled`() {
        var headers = HTTPHeaders()
        headers["content-TYPE"] = "text/plain"
        #expect(headers["Content-Type"] == "text/plain" && headers[.contentType] == "text/plain")
        #expect(headers.map(\.name.rawValue) == ["content-TYPE"])
    }

    @Test func `values of one name are in the order in which they were added`() {
        var headers: HTTPHeaders = ["X": "1", "Y": "0", "x": "2"]
        headers.append("X", "3")
        #expect(headers.values(for: "X") == ["1", "2", "3"])
        #expect(headers.map(\.value) == ["1", "0", "2", "3"])
    }

    @Test func `a name reads as its values joined by commas`() {
        let headers: HTTPHeaders = ["Accept": "a", "accept": "b"]
        #expect(headers["Accept"] == "a, b")
    }

    @Test func `Set-Cookie reads as its first value, since it cannot be joined`() {
        let headers: HTTPHeaders = ["Set-Cookie": "a=1", "set-cookie": "b=2"]
        #expect(headers["Set-Cookie"] == "a=1")
        #expect(headers.values(for: .setCookie) == ["a=1", "b=2"])
    }

    @Test func `setting replaces all values at the position of the first`() {
        var headers: HTTPHeaders = ["A": "1", "X": "1", "B": "1", "x": "2", "C": "1"]
        headers["X"] = "new"
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["A=1", "X=new", "B=1", "C=1"])
    }

    @Test func `nil removes all values`() {
        var headers: HTTPHeaders = ["X": "1", "A": "1", "x": "2"]
        headers["X"] = nil
        #expect(headers.map(\.name) == ["A"] && !headers.contains("x"))
        headers["Missing"] = nil
        #expect(headers.count == 1)
    }

    @Test func `an empty value is a value`() {
        let headers: HTTPHeaders = ["X": ""]
        #expect(headers["X"] == "" && headers.contains("X"))
    }

    @Test(arguments: [(" a ", "a"), ("\ta b\t", "a b"), ("  ", ""), ("a", "a")])
    func `spaces at the ends of a value are not part of it`(value: String, trimmed: String) {
        var appended = HTTPHeaders()
        appended.append("X", value)
        var set = HTTPHeaders()
        set["X"] = value
        let all = [appended, set, ["X": value], HTTPHeaders(["X": value] as [String: String])]
        #expect(all.map { $0["X"] } == Array(repeating: trimmed, count: 4))
    }

    @Test func `filling adds the names that are missing, all values of each`() {
        var headers: HTTPHeaders = ["accept": "mine"]
        headers.fill(from: ["Accept": "theirs", "X": "1", "x": "2"])
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["accept=mine", "X=1", "x=2"])
    }

    @Test func `replacing exchanges all values of each given name`() {
        var headers: HTTPHeaders = ["X": "1", "A": "1", "x": "2"]
        headers.replace(with: ["X": "3", "X": "4"])
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["A=1", "X=3", "X=4"])
    }

    @Test func `equal dictionaries create equal headers`() {
        let dictionary = ["B": "2", "A": "1", "C": "3"]
        #expect(HTTPHeaders(dictionary).map(\.name) == ["A", "B", "C"])
    }

    @Test func `names that differ in case are one key of a set`() {
        let names: Set<HTTPHeaders.Name> = ["ETag", "etag", "ETAG", .eTag]
        #expect(names.count == 1)
        #expect(HTTPHeaders.Name("K") != HTTPHeaders.Name("\u{212A}"))
    }

    @Test(
        arguments: [
            (.wwwAuthenticate, "WWW-Authenticate"), (.eTag, "ETag"), (.te, "TE"), (.setCookie, "Set-Cookie"),
            (.contentType, "Content-Type"), (.ifNoneMatch, "If-None-Match"),
        ] as [(HTTPHeaders.Name, String)])
    func `the usual names are spelled as registered`(name: HTTPHeaders.Name, text: String) {
        #expect(name.rawValue == text)
    }

    @Test func `the time to join headers grows with their number`() {
        func headers(_ count: Int, _ prefix: String) -> HTTPHeaders {
            HTTPHeaders((0..<count).map { HTTPHeaders.Field(HTTPHeaders.Name("\(prefix)-\($0)"), "1") })
        }
        let ratio = growth(of: 500) { count in
            var filled = headers(count, "A")
            filled.fill(from: headers(count, "B"))
            var replaced = headers(count, "A")
            replaced.replace(with: headers(count, "B"))
            #expect(filled.count == 2 * count && replaced == filled)
        }
        #expect(ratio < 8)
    }

    @Test func `the time to fill and replace headers grows with their number`() {
        let many = HTTPHeaders((0..<40).map { HTTPHeaders.Field(HTTPHeaders.Name("N-\($0 % 20)"), "\($0)") })
        let others = HTTPHeaders((10..<50).map { HTTPHeaders.Field(HTTPHeaders.Name("n-\($0 % 30)"), "new") })
        var filled = many
        filled.fill(from: others)
        #expect(filled.map(\.value).prefix(40) == many.map(\.value)[...])
        #expect(filled.dropFirst(40).allSatisfy { $0.value == "new" } && filled.count == 50)
        var replaced = many
        replaced.replace(with: others)
        #expect(replaced.map(\.value) == Array(repeating: "new", count: 40))
    }

    @Test(
        arguments: [
            (["Date": "Sun, 06 Nov 1994 08:49:37 GMT"], 784_111_777), (["Date": "tomorrow"], nil), ([:], nil),
        ] as [(HTTPHeaders, Int?)])
    func `a date is read in the formats of HTTP`(headers: HTTPHeaders, seconds: Int?) {
        #expect(headers.date(of: .date) == seconds.map { Date(timeIntervalSince1970: Double($0)) })
        var twice = headers
        twice.append(.date, "Sun, 06 Nov 1994 08:49:37 GMT")
        twice.append(.date, "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(twice.date(of: .date) == nil)
    }
}
