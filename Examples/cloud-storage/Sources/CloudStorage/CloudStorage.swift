// SPDX-License-Identifier: MIT
public import Foundation
public import Letterhead
import LetterheadStreaming
import LetterheadTransfers

/// A store in the cloud, over Letterhead.
public struct CloudStorage: ObjectStore {
    private let client: HTTPClient
    private let backOff: HTTPRetryStrategy

    /// - Parameters:
    ///   - tokens: obtains access tokens.
    ///   - userProject: the project that pays for the requests. Default: nil (the bucket's).
    ///   - endpoint: the server, without a path.
    ///   - backOff: the first wait before a retry. Each further one is twice as long at most.
    ///   - transport: the transport. Tests pass stubs.
    public init(
        tokens: some TokenSource, userProject: String? = nil, endpoint: String = "https://storage.googleapis.com",
        backOff: Duration = .seconds(1), transport: any HTTPLoader = HTTPClient.defaultTransport
    ) {
        var environment = ServerEnvironment("\(endpoint)/storage/v1")
        environment.headers["X-Goog-User-Project"] = userProject
        // A response that breaks off is requested again, too.
        self.backOff = .exponential(base: backOff).when(.standard || .failures([.invalidResponse]))
        client = HTTPClient(
            environment: environment, decoder: JSONDecoder.storage,
            authentication: .shared(Tokens(source: tokens), name: "bearer", header: .authorization),
            retrying: Backoff(self.backOff, maximumRetries: 4), transport: transport
        ).idleTimeout(.seconds(30))
    }

    public func objects(in bucket: String, prefix: String? = nil) -> Typed<
        some AsyncSequence<StorageObject, any Error> & Sendable
    > {
        let list = Get<ObjectPage>("b/\(bucket)/o", query: ["prefix": prefix])
        return Typed(
            base: client.items(of: list.paginated(by: .cursor(\.nextPageToken, parameter: "pageToken")), at: \.items))
    }

    public func object(_ name: String, in bucket: String) async throws -> StorageObject {
        try await typed { try await client.send(Get<StorageObject>("b/\(bucket)/o/\(name)")) }
    }

    public func download(_ object: StorageObject, to file: URL) async throws {
        try await typed {
            try await client.download(
                Media(object: object), to: file, resuming: .fromPart, continuing: Backoff(backOff))
        }
    }

    public func upload(
        _ file: URL, as name: String, in bucket: String, contentType: String = "application/octet-stream",
        replacing generation: String? = nil
    ) async throws -> StorageObject {
        try await typed {
            let draft = ObjectDraft(name: name, contentType: contentType, crc32c: try CRC32C(of: file).base64)
            let upload = Post<StorageObject>(
                "/upload/storage/v1/b/\(bucket)/o",
                query: ["uploadType": "multipart", "ifGenerationMatch": generation],
                body: MultipartBody(
                    [.body(JSONBody(draft)), .body(FileBody(at: file, contentType: MediaType(contentType)))],
                    subtype: "related"))
            return try await generation == nil ? client.send(upload) : client.send(upload.idempotent(key: .none))
        }
    }

    public func delete(_ name: String, in bucket: String, generation: String? = nil) async throws {
        try await typed {
            try await client.send(Delete<Void>("b/\(bucket)/o/\(name)", query: ["ifGenerationMatch": generation]))
        }
    }

    public func restore(_ globs: [String], in bucket: String, polling interval: Duration = .seconds(2)) async throws {
        try await typed {
            let body = JSONBody(RestoreRequest(matchGlobs: globs))
            var last = try await client.send(Post<StorageOperation>("b/\(bucket)/o/bulkRestore", body: body))
            let look = Get<StorageOperation>("b/\(bucket)/operations/\(last.identifier)")
            if last.done != true {
                for try await change in client.changes(of: look, every: interval, until: { $0.done == true }) {
                    last = change
                }
            }
            if let failure = last.error { throw StorageError(.operationFailed, message: failure.message) }
        }
    }
}

/// The content of a generation.
private struct Media: RequestTemplate {
    let object: StorageObject
    var path: RequestPath { "b/\(object.bucket)/o/\(object.name)" }
    var query: QueryParameters { ["alt": "media", "generation": object.generation] }

    /// Checks the file before it replaces the destination.
    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        let response = try result.get()
        if let file = response.savedFile, try CRC32C(of: file).base64 == object.crc32c { return response }
        throw StorageError(.damaged, message: "the content of \(object.name) does not have its checksum")
    }
}

/// Shares a token among all requests, until shortly before its end or until the service refuses it.
private struct Tokens<Source: TokenSource>: CredentialProvider {
    let source: Source

    func credential(for need: HTTPAuthentication.Need<AccessToken>) async throws -> AccessToken? {
        try await source.token()
    }

    func sign(_ request: inout HTTPRequest, with token: AccessToken) {
        request.headers.setSecret("Bearer \(token.value)", for: .authorization)
    }

    func freshness(of token: AccessToken, for request: HTTPRequest) -> HTTPAuthentication.Freshness {
        token.isOld ? .stale : .fresh
    }
}
