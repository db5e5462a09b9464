// SPDX-License-Identifier: MIT
import CloudStorage
import Foundation
import NIOCore

/// A multipart/related body: metadata, then a file, which is read in pieces.
struct MultipartFile: AsyncSequence, Sendable {
    let boundary = (0..<3).map { _ in String(UInt64.random(in: 1 << 63 ... .max), radix: 16) }.joined()
    let length: Int64
    private let head: Data
    private let file: URL
    private let size: Int64
    private let tail: Data

    init(draft: ObjectDraft, file: URL) throws {
        self.file = file
        let values = try file.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
        guard values.isRegularFile == true, let size = values.fileSize else {
            throw StorageError(.local, message: "\(file.lastPathComponent) is not a file")
        }
        self.size = Int64(size)
        var head = Data("--\(boundary)\r\nContent-Type: application/json\r\n\r\n".utf8)
        head += try JSONEncoder().encode(draft)
        head += Data("\r\n--\(boundary)\r\nContent-Type: \(draft.contentType)\r\n\r\n".utf8)
        self.head = head
        tail = Data("\r\n--\(boundary)--\r\n".utf8)
        length = Int64(head.count + tail.count) + self.size
    }

    struct Iterator: AsyncIteratorProtocol {
        let body: MultipartFile
        private var handle: FileHandle?
        private var isAtEnd = false
        private var left: Int64

        init(body: MultipartFile) { (self.body, left) = (body, body.size) }

        mutating func next() async throws -> ByteBuffer? {
            guard !isAtEnd else { return nil }
            guard let handle else {
                handle = try FileHandle(forReadingFrom: body.file)
                return ByteBuffer(bytes: body.head)
            }
            guard left > 0 else {
                isAtEnd = true
                try handle.close()
                return ByteBuffer(bytes: body.tail)
            }
            guard let piece = try handle.read(upToCount: Int(Swift.min(left, 1 << 18))), !piece.isEmpty else {
                throw StorageError(.local, message: "\(body.file.lastPathComponent) was shortened during the upload")
            }
            left -= Int64(piece.count)
            return ByteBuffer(bytes: piece)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(body: self) }
}
