// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Writes a multipart body to a buffer that is allocated with the exact size.
struct MultipartWriter {
    private let boundary: String
    private let parts: [MultipartBody.Part]
    private let length: Int

    init(boundary: String, _ parts: [MultipartBody.Part], length: Int) {
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

/// Iterates over a multipart body. Contents in memory are returned directly, and files and streams are read in pieces.
actor MultipartWalk {
    /// The size up to which bytes are joined, so that a small part does not become a separate piece. Larger contents
    /// are not copied.
    private static let joined = 64 << 10

    private let boundary: String
    private let parts: [MultipartBody.Part]
    private var index = 0
    private var isClosed = false
    private var pending = Data()
    private var current: BodyChunks.Iterator?

    /// - Parameter parts: the parts, with each body replaced by its bytes; see ``MultipartBody/resolved(_:)``.
    init(boundary: String, _ parts: [MultipartBody.Part]) {
        (self.boundary, self.parts) = (boundary, parts)
    }

    func next() async throws -> Data? {
        while true {
            if let chunk = try await pulled() { return chunk }
            if index < parts.count {
                open(parts[index])
            } else if !isClosed {
                isClosed = true
                pending += Data("--\(boundary)--\r\n".utf8)
            } else if pending.isEmpty {
                return nil
            }
            if current != nil || isClosed || pending.count >= Self.joined {
                defer { pending = Data() }
                return pending
            }
        }
    }

    /// Begins a part. If its content is in memory and small, the content is appended to the preceding bytes, and the
    /// part is ended.
    private func open(_ part: MultipartBody.Part) {
        pending += Data("--\(boundary)\r\n".utf8) + part.fields.bytes
        switch part.content {
        case .text(let text) where text.utf8.count < Self.joined:
            pending += Data(text.utf8)
            close()
        case .data(let data) where data.count < Self.joined:
            pending += data
            close()
        case .text(let text): current = BodyChunks(Data(text.utf8)).makeAsyncIterator()
        case .data(let data): current = BodyChunks(data).makeAsyncIterator()
        case .pulled(let chunks): current = chunks.makeAsyncIterator()
        case .body: close()
        }
    }

    private func close() {
        pending += Data("\r\n".utf8)
        current = nil
        index += 1
    }

    /// Returns the next piece of the current content; nil at its end, or if there is no current content.
    private func pulled() async throws -> Data? {
        guard var walk = current else { return nil }
        do {
            guard let chunk = try await walk.next() else {
                close()
                return nil
            }
            current = walk
            return chunk
        } catch let error as HTTPBodyError {
            throw error.inside(part: index)
        }
    }
}
