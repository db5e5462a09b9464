// SPDX-License-Identifier: MIT
import CloudStorage
import Foundation
import LetterheadTesting
import Synchronization

#if HANDWRITTEN
    import HandwrittenCloudStorage
#endif

/// The implementations that each test runs over.
enum Store: CaseIterable {
    case letterhead
    #if HANDWRITTEN
        case handwritten
    #endif

    func make(_ endpoint: URL, tokens: any TokenSource, userProject: String? = nil) -> any ObjectStore {
        let endpoint = endpoint.absoluteString
        let backOff = Duration.milliseconds(1)
        switch self {
        case .letterhead:
            return CloudStorage(tokens: tokens, userProject: userProject, endpoint: endpoint, backOff: backOff)
        #if HANDWRITTEN
            case .handwritten:
                return HandwrittenStorage(
                    tokens: tokens, userProject: userProject, endpoint: endpoint, backOff: backOff)
        #endif
        }
    }
}

/// Counts the tokens that it issues: t1, t2 and so on.
final class CountingTokens: TokenSource {
    private let issued = Mutex(0)
    private let life: TimeInterval
    var count: Int { issued.withLock { $0 } }

    init(life: TimeInterval = 3_600) { self.life = life }

    func token() async throws -> AccessToken {
        let number = issued.withLock { count in
            count += 1
            return count
        }
        return AccessToken("t\(number)", expiry: Date(timeIntervalSinceNow: life))
    }
}

/// Issues no token.
struct NoTokens: TokenSource {
    struct Refused: Error {}
    func token() async throws -> AccessToken { throw Refused() }
}

/// Runs a test with a server and a store, and stops the server.
func withStore(
    _ store: Store, tokens: any TokenSource = CountingTokens(), userProject: String? = nil,
    answers: MockServer.Closure? = nil, _ test: (any ObjectStore, MockServer) async throws -> Void
) async throws {
    let server = try await MockServer.start(closure: answers)
    do {
        try await test(store.make(server.url, tokens: tokens, userProject: userProject), server)
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}

/// Runs a test with an empty folder, and removes it.
func withFolder(_ test: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cloud-storage-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await test(folder)
}

extension StorageObject {
    /// The metadata of content.
    init(_ name: String, _ content: Data = Data(), crc32c: String? = nil) {
        var sum = CRC32C()
        sum.add(content)
        self.init(
            name: name, bucket: "zoo", generation: "7", size: "\(content.count)", crc32c: crc32c ?? sum.base64)
    }
}
