// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    import Letterhead
    import LetterheadTransfers
    import TestKit

    /// Uploads that continue, in a process that may be killed.
    struct Uploads {
        /// Sends a file to a port of this machine, and remembers the upload in a folder.
        static func send(toPort port: Int, file: String, folder: String) async throws {
            let client = HTTPClient(environment: ServerEnvironment("http://127.0.0.1:\(port)"))
            do {
                try await client.upload(
                    Post<HTTPResponse>("files"), from: FileBody(at: URL(filePath: file)),
                    resuming: UploadStore(in: URL(filePath: folder)))
            } catch { fail("\(error)") }
            print("ok")
        }

        /// The most memory that the process ever had is at most 4 MiB above what it had after a small upload, this
        /// process's own server included.
        static func keepMemory(_ size: Int) async throws {
            let root = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: root) }
            try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
            var before = 0
            for length in [16, size] {
                before = Transfers.peakKilobytes
                for kind in UploadServer.Kind.allCases {
                    let server = UploadServer(kind) { $0.keepsBytes = false }
                    let file = root.appending(path: "\(length)-\(kind)")
                    try Data().write(to: file)
                    let handle = try FileHandle(forWritingTo: file)
                    try handle.truncate(atOffset: UInt64(length << 20))
                    try handle.close()
                    let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
                    server.enqueue("PATCH", .cut(after: 3_000_000), .lost)
                    var settings = UploadSettings()
                    settings.chunkSize = (length << 20) / 2
                    try await client.upload(
                        Post<HTTPResponse>("files"), from: FileBody(at: file), resuming: UploadStore(in: root),
                        settings,
                        continuing: Backoff(.immediate))
                    expect(server.uploads.first?.count == length << 20, "the server has another length")
                }
            }
            let growth = Transfers.peakKilobytes - before
            expect(before > 0 && growth <= 4 << 10, "\(size) MiB took \(growth) KiB")
            print("ok: \(size) MiB took \(growth) KiB more than 16 MiB")
        }
    }
#endif
