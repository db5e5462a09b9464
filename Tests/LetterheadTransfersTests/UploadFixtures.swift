// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTransfers
    import TestKit

    /// A folder with a file to upload and a store. It is a class because it removes the folder.
    final class Outbox: Sendable {
        let root = FileManager.default.temporaryDirectory.appending(path: "uploads-\(UInt64.random(in: 0 ... .max))")
        var file: URL { root.appending(path: "film é.mp4") }
        var folder: URL { root.appending(path: "store") }
        var store: UploadStore { UploadStore(in: folder) }
        /// The files of the store.
        var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

        init(_ bytes: Data = content) throws {
            try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
            try bytes.write(to: file)
        }

        deinit { try? FileManager.default.removeItem(at: root) }

        @discardableResult
        func upload(
            to server: UploadServer, _ template: any RequestTemplate = Post<HTTPResponse>("files"),
            of body: (any HTTPBody)? = nil, attempts: Int = 5, store: UploadStore? = nil, client: HTTPClient? = nil,
            _ change: (inout UploadSettings) -> Void = { _ in }
        ) async throws -> HTTPResponse {
            var settings = UploadSettings()
            change(&settings)
            let content = body ?? FileBody(at: file)
            return try await (client ?? server.client).upload(
                template, from: content, resuming: store ?? self.store, settings,
                continuing: .immediately(attempts))
        }

        /// A template that changes the file when so many bytes were sent.
        func changing(after count: Int) -> some RequestTemplate {
            Post<HTTPResponse>("files").onProgress { [file] progress in
                guard progress.completedBytes >= count else { return }
                try? Data(repeating: 7, count: content.count).write(to: file)
            }
        }

        /// Begins an upload that breaks off after so many bytes.
        func begin(at server: UploadServer, cutAt cut: Int = 40_000) async throws {
            server.enqueue("PATCH", .cut(after: cut))
            _ = try? await upload(to: server, attempts: 0)
        }
    }

    extension UploadServer {
        var client: HTTPClient { HTTPClient(environment: ServerEnvironment(baseURL: url)) }
        var offsets: [Int?] { appends.map(\.offset) }

        /// Whether it has the file once, and each byte was accepted once.
        func isRight(_ file: Data = content) -> Bool {
            complete == [file] && faults.isEmpty && appends.map(\.received).reduce(0, +) == file.count
        }
    }

    extension Data {
        /// Bytes in blocks that all differ.
        static func blocks(_ size: Int) -> Data {
            var block = Data((0..<1_000_003).map { _ in UInt8.random(in: 0...255) })
            var bytes = Data(capacity: size + block.count)
            for number in 0...size / block.count {
                Swift.withUnsafeBytes(of: number) { block.replaceSubrange(0..<8, with: $0) }
                bytes.append(block)
            }
            return bytes.prefix(size)
        }
    }
#endif
