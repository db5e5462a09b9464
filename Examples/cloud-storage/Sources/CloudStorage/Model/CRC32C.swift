// SPDX-License-Identifier: MIT
public import Foundation

/// The checksum of objects: CRC-32 with Castagnoli's polynomial (RFC 3720, 12.1).
public struct CRC32C: Sendable {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
    }

    private var state = UInt32.max

    /// Creates the checksum of no bytes.
    public init() {}

    /// Computes a file's checksum. It reads the file in pieces.
    ///
    /// - Throws: the system's error if the file can't be read.
    public init(of file: URL) throws {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        while let piece = try handle.read(upToCount: 1 << 18), !piece.isEmpty { add(piece) }
    }

    /// Adds bytes.
    public mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { state = Self.table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ state >> 8 }
    }

    /// The checksum as the service writes it: four bytes, the highest first, in Base64.
    public var base64: String {
        withUnsafeBytes(of: (~state).bigEndian) { Data($0).base64EncodedString() }
    }
}
