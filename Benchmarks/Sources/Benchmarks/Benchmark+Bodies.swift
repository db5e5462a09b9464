// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

extension Benchmark {
    /// Multipart bodies and forms that are in memory.
    static let bodies: [Benchmark] = [
        multipart("one part of 10 MiB", parts: 1, size: 10 << 20, limit: 1 / 0.85),
        multipart("100 parts of 1 KiB", parts: 100, size: 1 << 10, limit: 12),
        Benchmark(
            "encode a form of 1000 short pairs",
            floor: {
                var components = URLComponents()
                components.queryItems = items
                return Data((components.percentEncodedQuery ?? "").utf8)
            },
            measured: { try FormBody(items).encode() }, limits: .ratio(0.3),
            areSame: { Form.decoded($0) == Form.decoded($1) }),
        Benchmark(
            "encode a form of a value with 10 properties",
            floor: { try JSONEncoder().encode(order) },
            measured: { try FormBody(encoding: order).encode() }, limits: .ratio(0.5),
            areSame: { json, form in
                (try? JSONDecoder().decode(Order.self, from: json)) == order
                    && form.count { $0 == UInt8(ascii: "&") } == 9
            }),
    ]

    /// Parts are made and encoded. The floor copies the same bytes into memory that is there and was touched.
    private static func multipart(_ name: String, parts: Int, size: Int, limit: Double) -> Benchmark {
        let contents = (0..<parts).map { Data(repeating: UInt8($0), count: size) }
        let target = Target(count: parts * size)
        return Benchmark(
            "encode a multipart body of \(name)",
            floor: { target.copy(contents) },
            measured: {
                try MultipartBody(contents.map { .data($0, name: "field", filename: "file.bin") }).encode()
            },
            limits: .ratio(limit),
            areSame: { bytes, body in body.count > bytes && contents.allSatisfy { body.range(of: $0.prefix(64)) != nil }
            })
    }
}

/// Memory that is copied to, over and over.
private final class Target: @unchecked Sendable {  // written by one benchmark at a time, and never read
    private let memory: UnsafeMutableRawBufferPointer

    init(count: Int) {
        memory = .allocate(byteCount: count, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 1)
    }

    deinit { memory.deallocate() }

    func copy(_ pieces: [Data]) -> Int {
        var position = 0
        for piece in pieces {
            piece.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[position...]).copyMemory(from: $0) }
            position += piece.count
        }
        return position
    }
}

private enum Form {
    static func decoded(_ form: Data) -> String? { String(decoding: form, as: UTF8.self).removingPercentEncoding }
}

private struct Order: Codable, Equatable, Sendable {
    var id = 4711
    var title = "A short title"
    var isNew = true
    var price = 12.5
    var currency = "EUR"
    var city = "Z\u{FC}rich"
    var street = "1, Long Road"
    var count = 3
    var note = "leave it at the door"
    var weight = 250
}

private let order = Order()
private let items = (0..<1000).map { URLQueryItem(name: "name\($0)", value: "value \($0)") }
