// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import CloudStorage
import Foundation
import NIOCore
import NIOHTTP1

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes a download to a part file, which a later call continues.
struct Download {
    /// What the part belongs to.
    private struct Record: Codable, Equatable {
        var resource: String
        var tag: String
        var length: UInt64
    }

    let transport: Transport
    let object: StorageObject
    let file: URL

    private var part: URL { file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).part") }
    private var recordFile: URL { part.appendingPathExtension("json") }
    private var resource: String { "\(object.bucket)/\(object.name)#\(object.generation)" }

    func run() async throws {
        let handle = try reading { try opened() }
        defer { try? handle.close() }
        var (failures, restarts) = (0, 0)
        while true {
            let start = try reading { try handle.seekToEnd() }
            do {
                if try await attempt(handle) { break }
                restarts += 1
                if restarts > 1 { throw StorageError(.malformed, message: "the service sent another part") }
            } catch {
                let failure = Transport.storageError(Task.isCancelled ? CancellationError() : error)
                guard let lost = failure as? StorageError, [.unreachable, .timedOut].contains(lost.code) else {
                    throw failure
                }
                let end = try reading { try handle.seekToEnd() }
                failures = end >= start + 65_536 ? 0 : failures + 1
                guard failures < 5 else { throw failure }
                try await Task.sleep(for: transport.wait(before: failures))
            }
        }
        try reading { try finish() }
    }

    /// Requests the rest. Returns false if the download must start again.
    private func attempt(_ handle: FileHandle) async throws -> Bool {
        let record = storedRecord()
        let size = try reading { try handle.seekToEnd() }
        let position = record.map { min(size, $0.length - 1) } ?? 0
        var call = Call(
            .GET, ["b", object.bucket, "o", object.name], query: ["alt": "media", "generation": object.generation])
        call.headers = ["Accept-Encoding": "identity"]
        if let record {
            call.headers["Range"] = "bytes=\(position)-"
            call.headers["If-Range"] = record.tag
        }
        let response = try await transport.send(call, accepting: [200, 206, 416]) { $0 }
        switch response.status {
        case .ok:
            try reading { try restart(handle, response) }
        case .partialContent:
            guard let record, continues(record, at: position, response) else { fallthrough }
            try reading { try handle.truncate(atOffset: position) }
        default:
            try reading { try restart(handle, nil) }
            return false
        }
        for try await piece in response.body {
            try reading { try handle.write(contentsOf: Data(piece.readableBytesView)) }
        }
        return true
    }

    private func continues(_ record: Record, at position: UInt64, _ response: HTTPClientResponse) -> Bool {
        let range = "bytes \(position)-\(record.length - 1)/\(record.length)"
        let tag = response.headers.first(name: "ETag")
        return response.headers.first(name: "Content-Range") == range && (tag == nil || tag == record.tag)
    }

    private func restart(_ handle: FileHandle, _ response: HTTPClientResponse?) throws {
        try? FileManager.default.removeItem(at: recordFile)
        try handle.truncate(atOffset: 0)
        guard let tag = response?.headers.first(name: "ETag"), !tag.hasPrefix("W/"),
            let length = response?.headers.first(name: "Content-Length").flatMap(UInt64.init), length > 0
        else { return }
        let record = Record(resource: resource, tag: tag, length: length)
        try JSONEncoder().encode(record).write(to: recordFile, options: .atomic)
    }

    private func storedRecord() -> Record? {
        let record = (try? Data(contentsOf: recordFile)).flatMap { try? JSONDecoder().decode(Record.self, from: $0) }
        return record?.resource == resource ? record : nil
    }

    /// Opens the part, which only one download at a time may write.
    private func opened() throws -> FileHandle {
        let descriptor = open(part.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StorageError(.local, message: "another download writes \(file.lastPathComponent)")
        }
        return handle
    }

    private func finish() throws {
        try? FileManager.default.removeItem(at: recordFile)
        guard try CRC32C(of: part).base64 == object.crc32c else {
            try FileManager.default.removeItem(at: part)
            throw StorageError(.damaged, message: "the content of \(object.name) does not have its checksum")
        }
        guard rename(part.path, file.path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}
