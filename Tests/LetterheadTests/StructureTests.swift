// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// What the compiler does not check about the sources. The stage `layers` of .ci/run checks that no room of the library
/// refers to a later one.
@Suite struct StructureTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")

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
