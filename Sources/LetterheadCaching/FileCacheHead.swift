// SPDX-License-Identifier: MIT
import Letterhead
import CLetterheadZlib
import LetterheadFoundation

/// A head file. It contains a magic number, the key URL, the head, the body size, the body checksum, and a checksum
/// over everything before.
///
/// Numbers are little-endian. A string consists of its length in 4 bytes and its UTF-8 bytes.
struct FileCacheHead: Equatable {
    var url: String
    var head: CachedHead
    var bodyCount: Int
    var bodyChecksum: UInt64

    private static let mark: UInt32 = 0x3443_484C  // "LHC4"

    /// Whether a different library version wrote the file.
    static func isOfOtherVersion(_ bytes: [UInt8]) -> Bool {
        var reader = Reader(bytes: bytes, index: 0)
        return bytes.starts(with: "LHC".utf8) && reader.number(UInt32.self) != mark
    }

    /// The largest readable file, in bytes. By default, transports accept heads of at most 256 KiB.
    static let longest = 4 << 20

    var data: Data {
        var writer = Writer()
        writer.number(Self.mark)
        writer.text(url)
        writer.text(head.respondingServer?.description ?? "")
        writer.number(UInt32(truncatingIfNeeded: head.status))
        writer.number(UInt64(bitPattern: head.requestTime))
        writer.number(UInt64(bitPattern: head.responseTime))
        writer.number(UInt64(bitPattern: head.receivedTime))
        writer.number(UInt64(bitPattern: Int64(bodyCount)))
        writer.number(bodyChecksum)
        writer.number(UInt32(head.headers.count))
        for field in head.headers {
            writer.text(field.name.rawValue)
            writer.text(field.value)
        }
        writer.number(UInt32(head.varied.count))
        for field in head.varied {
            writer.text(field.name)
            writer.number(UInt32(field.value == nil ? 0 : 1))
            writer.text(field.value ?? "")
        }
        writer.number(CacheChecksum.of(writer.bytes))
        return Data(writer.bytes)
    }

    init(url: String, head: CachedHead, bodyCount: Int, bodyChecksum: UInt64) {
        (self.url, self.head, self.bodyCount, self.bodyChecksum) = (url, head, bodyCount, bodyChecksum)
    }

    /// Reads a head file. Returns nil if any byte differs from the byte that was written.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > 8 else { return nil }
        var end = Reader(bytes: bytes, index: bytes.count - 8)
        guard end.number(UInt64.self) == CacheChecksum.of(bytes.dropLast(8)) else { return nil }
        var reader = Reader(bytes: Array(bytes.dropLast(8)), index: 0)
        guard reader.number(UInt32.self) == Self.mark, let url = reader.text(), let server = reader.text(),
            let status = reader.number(UInt32.self),
            let requestTime = reader.number(UInt64.self), let responseTime = reader.number(UInt64.self),
            let receivedTime = reader.number(UInt64.self), let count = reader.number(UInt64.self),
            let checksum = reader.number(UInt64.self),
            let headers = reader.headers(), let varied = reader.varied(), reader.isAtEnd, count <= UInt64(Int.max),
            [requestTime, responseTime, receivedTime].allSatisfy({ CachedHead.times.contains(Int64(bitPattern: $0)) })
        else { return nil }
        self.url = url
        head = CachedHead(
            status: Int(status), headers: headers, requestTime: Int64(bitPattern: requestTime),
            responseTime: Int64(bitPattern: responseTime), receivedTime: Int64(bitPattern: receivedTime),
            varied: varied,
            respondingServer: server.isEmpty ? nil : (try? HTTPRequest(server))?.origin)
        (bodyCount, bodyChecksum) = (Int(count), checksum)
    }

    private struct Writer {
        var bytes: [UInt8] = []

        mutating func number(_ value: some FixedWidthInteger) {
            unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
        }

        mutating func text(_ text: String) {
            number(UInt32(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var index: Int

        var isAtEnd: Bool { index == bytes.count }

        mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
            let size = MemoryLayout<Number>.size
            guard bytes.count - index >= size else { return nil }
            // There are enough bytes, and an integer may have any bits.
            defer { index += size }
            return unsafe Number(
                littleEndian: bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: index, as: type) })
        }

        mutating func text() -> String? {
            guard let count = number(UInt32.self), Int(count) <= bytes.count - index else { return nil }
            defer { index += Int(count) }
            return String(decoding: bytes[index..<index + Int(count)], as: UTF8.self)
        }

        mutating func headers() -> HTTPHeaders? {
            guard let count = number(UInt32.self), Int(count) <= bytes.count / 8 else { return nil }
            var headers = HTTPHeaders()
            for _ in 0..<count {
                guard let name = text(), let value = text() else { return nil }
                headers.append(HTTPHeaders.Name(name), value)
            }
            return headers
        }

        mutating func varied() -> [CachedHead.VariedField]? {
            guard let count = number(UInt32.self), Int(count) <= bytes.count / 12 else { return nil }
            var varied: [CachedHead.VariedField] = []
            for _ in 0..<count {
                guard let name = text(), let isSet = number(UInt32.self), let value = text() else { return nil }
                varied.append(CachedHead.VariedField(name: name, value: isSet == 0 ? nil : value))
            }
            return varied
        }
    }
}

/// A checksum that detects damaged files: CRC-32 and the length. It does not protect against an attacker who can write
/// the files.
struct CacheChecksum: Sendable {
    private var crc: UInt = 0
    private var count: UInt64 = 0

    static func of(_ bytes: some ContiguousBytes) -> UInt64 {
        var checksum = CacheChecksum()
        checksum.append(bytes)
        return checksum.value
    }

    /// Appends bytes. Several calls have the same effect as one call with all bytes.
    mutating func append(_ bytes: some ContiguousBytes) {
        // zlib reads the bytes before it returns.
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            crc = unsafe czlib_crc32(crc, start.assumingMemoryBound(to: UInt8.self), UInt(bytes.count))
            count &+= UInt64(bytes.count)
        }
    }

    var value: UInt64 { UInt64(crc) << 32 | count & 0xFFFF_FFFF }
}
