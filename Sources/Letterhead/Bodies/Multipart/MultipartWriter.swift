import Foundation

/// Writes a multipart body to a buffer that is allocated with the exact size.
struct MultipartWriter {
    private let boundary: String
    private let parts: [MultipartPart]
    private let length: Int

    /// - Parameter length: the number of bytes of the whole body.
    init(boundary: String, _ parts: [MultipartPart], length: Int) {
        (self.boundary, self.parts, self.length) = (boundary, parts, length)
    }

    /// Returns the whole body. Contents that are not in memory are left out.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if there is not enough memory.
    func data() throws(HTTPBodyError) -> Data {
        // Every delimiter except the first ends the preceding content.
        let delimiter = Array("\r\n--\(boundary)\r\n".utf8)
        let tooLarge = HTTPBodyError.invalid("the multipart body of \(length) bytes does not fit into memory")
        return try Data.filled(count: length, orThrow: tooLarge) { buffer throws(HTTPBodyError) in
            var rest = buffer
            for index in parts.indices {
                Self.write(index == 0 ? delimiter[2...] : delimiter[...], to: &rest)
                parts[index].fields.write { Self.write($0, to: &rest) }
                switch parts[index].content {
                case .text(let text): Self.write(text, to: &rest)
                case .data(let data): data.withUnsafeBytes { Self.write($0, to: &rest) }
                case .body, .pulled: break
                }
            }
            Self.write(parts.isEmpty ? "--\(boundary)--\r\n" : "\r\n--\(boundary)--\r\n", to: &rest)
            return buffer.count - rest.count
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to rest: inout UnsafeMutableRawBufferPointer) {
        bytes.withUnsafeBytes { write($0, to: &rest) }
    }

    private static func write(_ text: String, to rest: inout UnsafeMutableRawBufferPointer) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0), to: &rest) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to rest: inout UnsafeMutableRawBufferPointer) {
        rest.copyMemory(from: bytes)
        rest = UnsafeMutableRawBufferPointer(rebasing: rest[bytes.count...])
    }
}
