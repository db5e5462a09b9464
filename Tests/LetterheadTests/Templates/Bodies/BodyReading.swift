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
