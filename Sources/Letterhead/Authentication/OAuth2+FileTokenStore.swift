public import Foundation

extension OAuth2 {
    /// Keeps tokens in a file that only its owner may read.
    ///
    /// The file is replaced as a whole, and is on disk before anybody gets the tokens: a crash leaves the last or the new
    /// ones. A file that other users can write is refused: it could hold their tokens. It is JSON and not encrypted; where
    /// the system has a keychain, write a ``TokenStore`` for that.
    public struct FileTokenStore: TokenStore {
        private let url: URL

        /// Makes a store; its directory is made when tokens are saved.
        public init(_ url: URL) { self.url = url }

        /// What the file holds; nil when there is none.
        ///
        /// - Throws: ``Failure`` when it cannot be read, holds something else or more than 1 MiB, belongs to another
        ///   user than the process's or root, or can be written by its group or by everybody.
        public func load() async throws -> Tokens? {
            guard let data = try PrivateFile.read(url) else { return nil }
            guard let document = try? JSONDecoder().decode(Document.self, from: data) else {
                throw Failure(.store, "the file of tokens holds something else; a reset deletes it")
            }
            return document.tokens
        }

        /// Replaces the file.
        ///
        /// - Throws: ``Failure`` when it cannot be written; the last one is then still there.
        public func save(_ tokens: Tokens) async throws {
            let directory = url.deletingLastPathComponent()
            try? FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let data = try JSONEncoder().encode(Document(tokens))
            try PrivateFile(replacing: url).write(data)
        }

        /// Deletes the file.
        ///
        /// - Throws: ``Failure`` when it is still there.
        public func delete() async throws {
            let result = url.withUnsafeFileSystemRepresentation { path in path.map { unlink($0) } ?? -1 }
            guard result == 0 || errno == ENOENT else { throw Failure(.store, "the file of tokens cannot be deleted") }
        }
    }
}

/// What stands in the file: the only place where tokens are written out.
private struct Document: Codable {
    var access_token: String
    var refresh_token: String?
    var scope: [String]?
    var expires_at: Date?
    var origin: String?

    init(_ tokens: OAuth2.Tokens) {
        access_token = tokens.accessToken.reveal()
        refresh_token = tokens.refreshToken?.reveal()
        scope = tokens.scope?.sorted()
        expires_at = tokens.expiresAt
        origin = tokens.origin?.description
    }

    var tokens: OAuth2.Tokens {
        OAuth2.Tokens(
            accessToken: Secret(access_token), refreshToken: refresh_token.map { Secret($0) },
            scope: scope.map { Set($0) }, expiresAt: expires_at, origin: origin.flatMap { HTTPOrigin(URLParts($0)) })
    }
}
