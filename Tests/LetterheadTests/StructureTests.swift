// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// What the compiler does not check about the sources. The stage `layers` of .ci/run checks that no room of the library
/// refers to a later one.
@Suite struct StructureTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let sources = root.appending(path: "Sources")

    /// Ordinary words that a test's name could begin with.
    private static let words = Set(
        """
        a after all an any as at bodies bytes each every headers if in it no of only over requests responses several the
        there this tokens two what when where while with without
        """.split { $0 == " " || $0 == "\n" })

    @Test func `a test's name begins in lower case, unless its first word is a name`() throws {
        var count = 0
        for name in ["Tests", "Examples", "Adapters"] {
            let folder = Self.root.appending(path: name)
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
                $0.hasSuffix(".swift") && !$0.contains(".build")
            }
            for path in paths {
                let code = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                for name in code.components(separatedBy: "func `").dropFirst() {
                    let word = name.prefix { $0.isLetter }
                    let isCapitalized = word.first?.isUppercase == true && Self.words.contains(word.lowercased()[...])
                    #expect(!isCapitalized, "\(path): \(name.prefix { $0 != "`" })")
                    count += 1
                }
            }
        }
        #expect(count > 1000)
    }

    /// The types that read bytes from outside, each with the reader of Tests/Fuzz that measures its growth, or nil for
    /// a type that only passes bytes on.
    private static let readers: [String: String?] = [
        "ChallengeReader": "WWW-Authenticate", "ContentDecoder": nil, "ContractDecoder": "decoded type",
        "EventStreamParser": "event stream", "InputStreamReader": nil, "JSONElementSplitter": "JSON values",
        "JSONLineSplitter": "JSON values", "JSONRecordSplitter": "JSON values", "JSONTextParser": "JSON values",
        "JSONValueSplitter": "JSON values", "LineSplitter": "event stream", "MediaTypeDecoder": "decoded type",
        "MultipartParser": "multipart", "MultipartReader": "multipart response", "PageReader": "next link",
        "Reader": "cache file", "RequestParser": nil, "ResponseReader": "HTTP/1.1 response",
        "StructuredReader": "structured field",
        "URITemplateParser": nil,
    ]

    /// Types that read bytes from outside, although their names don't tell.
    private static let otherReaders = [
        "ArchiveRedaction": "archive", "CacheControl": "cache headers",
        "CookieText": "cookies.txt", "Filename": "Content-Disposition", "HAR": "archive", "HTTPDate": "date",
        "JSONText": "decoded type", "KeyFormat": "signature key", "LinkHeader": "Link", "MediaType": "Content-Type",
        "ServerDelays": "header fields", "StructuredValue": "structured field", "TraceContext": "header fields",
        "URLParts": "URL", "WireMessage": "relay message",
    ]

    @Test func `each type that reads bytes from outside is among the readers whose growth is measured`() throws {
        let fuzz = Self.root.appending(path: "Tests/Fuzz")
        let entries = try FileManager.default.contentsOfDirectory(atPath: fuzz.path).map {
            try String(contentsOf: fuzz.appending(path: $0), encoding: .utf8)
        }.joined()
        let named = /(?:struct|class|enum|actor) ([A-Za-z]*(?:Parser|Splitter|Reader|Decoder|Scanner))\b/
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.sources.path).filter {
            $0.hasSuffix(".swift")
        }
        var (found, all): (Set<String>, String) = ([], "")
        for path in paths {
            let code = try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
            all += code
            found.formUnion(code.replacing(/\/\/[^\n]*/, with: "").matches(of: named).map { String($0.1) })
        }
        #expect(found == Set(Self.readers.keys))
        let declared = Set(all.matches(of: /(?:struct|class|enum|actor) ([A-Za-z]+)\b/).map { String($0.1) })
        #expect(declared.isSuperset(of: Self.otherReaders.keys))
        for reader in Self.readers.values.compactMap(\.self) + Self.otherReaders.values {
            #expect(entries.contains("name: \"\(reader)\""), "\(reader)")
        }
    }

    @Test func `a closure that creates a body has no capture list, which would leave the reader's actor`() throws {
        let closure = /(HTTPResponseBody\([^)]*\)|\bpull:|\bpull =|async throws -> Data\? =) \{ \[/
        for listed in ["HTTPResponseBody(length: length) { [self] in", "pull: { [self] in", "let pull = { [pull] in"] {
            #expect(listed.contains(closure), "\(listed)")
        }
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.sources.path).filter {
            $0.hasSuffix(".swift")
        }
        #expect(paths.count > 50)
        for path in paths {
            let code = try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
            #expect(!code.replacing(/\/\/[^\n]*/, with: " ").contains(closure), "\(path)")
        }
    }

    @Test func `without the trait Foundation, no file imports more than FoundationEssentials on Linux`() throws {
        let everything = /^( *)(?:public |package )?import (?:Foundation|FoundationNetworking|Glibc|Darwin|Musl)$/
        let conditions = ["#if Foundation", "#if canImport(Darwin)", "#if !canImport(FoundationNetworking)"]
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.sources.path).filter {
            $0.hasSuffix(".swift") && !$0.hasPrefix("LetterheadFoundation")
        }.map { Self.sources.appending(path: $0) }
        var count = 0
        for path in paths {
            let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
            for (index, line) in lines.enumerated() where line.contains(everything) {
                let condition = lines[..<index].last { $0.hasPrefix("#if ") } ?? ""
                let isConditional = line.hasPrefix(" ") && conditions.contains { condition.hasPrefix($0) }
                #expect(isConditional, "\(path.lastPathComponent): \(line)")
                count += 1
            }
        }
        #expect(count > 5)
    }
}
