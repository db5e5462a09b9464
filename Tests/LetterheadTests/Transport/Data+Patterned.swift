// SPDX-License-Identifier: MIT
import Foundation

extension Data {
    /// Bytes that show where they are, made by doubling: loops over millions of them hold up all other tests.
    static func patterned(_ count: Int) -> Data {
        var data = Data((0..<251).map { UInt8($0) })
        while data.count < count { data.append(data) }
        return data.prefix(count)
    }
}
