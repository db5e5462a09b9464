// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

extension HTTPBody {
    /// All bytes, walked piece by piece.
    func walked() async throws -> Data {
        var data = Data()
        for try await chunk in try chunks() { data += chunk }
        return data
    }
}

/// A directory of a test's own. A class, because it removes the directory when the test is done with it.
final class TemporaryDirectory: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A file with these bytes.
    func file(_ name: String, _ data: Data) throws -> URL {
        let file = url.appendingPathComponent(name)
        try data.write(to: file)
        return file
    }
}

/// Bytes that differ from piece to piece.
func noise(_ count: Int) -> Data {
    var state: UInt32 = 2_463_534_242
    return Data(
        (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            return UInt8(truncatingIfNeeded: state)
        })
}
