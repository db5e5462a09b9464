import Foundation
import Letterhead

extension Benchmark {
    /// The escaping that queries, paths and forms go through.
    static let percentEncoding: [Benchmark] = [
        escape("1 MB of text with a fifth of it to escape", mixed),
        escape("1 MB of text with nothing to escape", plain),
    ]

    private static func escape(_ name: String, _ text: String) -> Benchmark {
        Benchmark(
            "percent-encode \(name)",
            floor: { text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "" },
            measured: { PercentEncoding.escape(text, .unreserved) },
            limits: .ratio(1 / 40))
    }
}

private let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
private let mixed = String(repeating: "abcd fghi/klmn&pqrs=", count: 50_000)
private let plain = String(repeating: "abcdefghijklmnopqrst", count: 50_000)
