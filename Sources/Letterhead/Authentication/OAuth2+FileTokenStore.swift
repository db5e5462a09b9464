public import Foundation

extension OAuth2 {
    /// A store that keeps tokens in a file that only its owner can read.
    ///
    /// The file is replaced atomically and written to disk before the tokens are used, so that a crash leaves either
    /// the previous or the new tokens. A file that other users can write is refused, because it could contain tokens of
    /// another user. The file contains JSON and is not encrypted. If the system has a keychain, implement a
    /// ``TokenStore`` for it.
    public struct FileTokenStore: TokenStore {
        private let url: URL

        /// Creates a store. The directory of the file is created when tokens are saved.
        public init(_ url: URL) { self.url = url }

        /// Returns the tokens in the file; nil if there is no file.
        ///
        /// - Throws: ``HTTPAuthentication/Failure`` if the file cannot be read, is malformed, is larger than 1 MiB, is
        ///   writable by its group or by everyone, or belongs neither to the user of the process nor to root.
        public func load() async throws -> Tokens? {
            guard
                let data = try Self.naming({ () throws(PrivateFile.Failure) in try PrivateFile.read(url, upTo: 1 << 20)
                })
            else { return nil }
            guard let document = try? JSONDecoder().decode(Document.self, from: data) else {
                throw HTTPAuthentication.Failure(.store, "the token file is malformed; reset the client to delete it")
            }
            return document.tokens
        }

        /// Replaces the file.
        ///
        /// - Throws: ``HTTPAuthentication/Failure`` if the file cannot be written. The previous file then still exists.
        public func save(_ tokens: Tokens) async throws {
            let directory = url.deletingLastPathComponent()
            try? FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let data = try JSONEncoder().encode(Document(tokens))
            try Self.naming { () throws(PrivateFile.Failure) in try PrivateFile(replacing: url).write(data) }
        }

        /// Calls a closure, and converts the errors that it throws to errors that name the token file.
        private static func naming<Value>(
            _ use: () throws(PrivateFile.Failure) -> Value
        ) throws(HTTPAuthentication.Failure) -> Value {
            do throws(PrivateFile.Failure) {
                return try use()
            } catch {
                switch error {
                case .unwritable: throw HTTPAuthentication.Failure(.store, "the token file cannot be written")
                case .unreadable: throw HTTPAuthentication.Failure(.store, "the token file cannot be read")
                case .tooLarge:
                    throw HTTPAuthentication.Failure(
                        .store, "the token file is larger than 1 MiB; reset the client to delete it")
                case .foreign:
                    throw HTTPAuthentication.Failure(
                        .store, "the token file belongs to another user; reset the client to delete it")
                case .shared:
                    throw HTTPAuthentication.Failure(
                        .store,
                        "other users can write the token file; set its permissions to 0600, or reset the client to "
                            + "delete it")
                }
            }
        }

        /// Deletes the file.
        ///
        /// - Throws: ``HTTPAuthentication/Failure`` if the file cannot be deleted.
        public func delete() async throws {
            let result = url.withUnsafeFileSystemRepresentation { path in path.map { unlink($0) } ?? -1 }
            guard result == 0 || errno == ENOENT else {
                throw HTTPAuthentication.Failure(.store, "the token file cannot be deleted")
            }
        }
    }
}

/// The content of the file: the only place where tokens are written in plain text.
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
