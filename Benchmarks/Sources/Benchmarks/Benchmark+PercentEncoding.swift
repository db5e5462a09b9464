// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

extension Benchmark {
    /// The escaping that queries, paths and forms go through, in a form of one long value.
    static let percentEncoding: [Benchmark] = [
        escape("1 MB of text with a fifth of it to escape", mixed),
        escape("1 MB of text with nothing to escape", plain),
    ]

    private static func escape(_ name: String, _ text: String) -> Benchmark {
        Benchmark(
            "percent-encode \(name)",
            floor: { Data(("text=" + (text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")).utf8) },
            measured: { try FormBody(["text": text]).encode() },
            limits: .ratio(1 / 40))
    }
}

private let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
private let mixed = String(repeating: "abcd fghi/klmn&pqrs=", count: 50_000)
private let plain = String(repeating: "abcdefghijklmnopqrst", count: 50_000)
