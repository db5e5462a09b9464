// SPDX-License-Identifier: MIT
public import AsyncHTTPClient
public import CloudStorage
public import Foundation
import NIOCore
import NIOHTTP1

/// The same store over AsyncHTTPClient alone.
public struct HandwrittenStorage: ObjectStore {
    private let transport: Transport

    public init(
        tokens: any TokenSource, userProject: String? = nil, endpoint: String = "https://storage.googleapis.com",
        backOff: Duration = .seconds(1), http: HTTPClient = .shared
    ) {
        transport = Transport(
            http: http, tokens: TokenCache(tokens), endpoint: endpoint, userProject: userProject, backOff: backOff)
    }

    public func objects(in bucket: String, prefix: String? = nil) -> ObjectSequence {
        ObjectSequence(transport: transport, bucket: bucket, prefix: prefix)
    }

    public func object(_ name: String, in bucket: String) async throws -> StorageObject {
        try await transport.json(Call(.GET, ["b", bucket, "o", name]))
    }

    public func download(_ object: StorageObject, to file: URL) async throws {
        try await Download(transport: transport, object: object, file: file).run()
    }

    public func upload(
        _ file: URL, as name: String, in bucket: String, contentType: String = "application/octet-stream",
        replacing generation: String? = nil
    ) async throws -> StorageObject {
        let body = try reading {
            let draft = ObjectDraft(name: name, contentType: contentType, crc32c: try CRC32C(of: file).base64)
            return try MultipartFile(draft: draft, file: file)
        }
        var call = Call(
            .POST, ["b", bucket, "o"], query: ["uploadType": "multipart", "ifGenerationMatch": generation])
        call.root = "/upload/storage/v1"
        call.headers = ["Content-Type": "multipart/related; boundary=\(body.boundary)"]
        call.makeBody = { .stream(body, length: .known(body.length)) }
        call.isIdempotent = generation != nil
        return try await transport.json(call)
    }

    public func delete(_ name: String, in bucket: String, generation: String? = nil) async throws {
        let call = Call(.DELETE, ["b", bucket, "o", name], query: ["ifGenerationMatch": generation])
        try await transport.send(call) { response in _ = try await response.body.collect(upTo: 1 << 20) }
    }

    public func restore(_ globs: [String], in bucket: String, polling interval: Duration = .seconds(2)) async throws {
        var call = Call(.POST, ["b", bucket, "o", "bulkRestore"])
        let body = try JSONEncoder().encode(RestoreRequest(matchGlobs: globs))
        call.headers = ["Content-Type": "application/json"]
        call.makeBody = { .bytes(body) }
        var operation: StorageOperation = try await transport.json(call)
        var look = Call(.GET, ["b", bucket, "operations", operation.identifier])
        while operation.done != true {
            try await Task.sleep(for: interval)
            let (changed, tag) = try await transport.send(look, accepting: [200, 304]) { response in
                (try await decoded(response) as StorageOperation?, response.headers.first(name: "ETag"))
            }
            if let changed { operation = changed }
            if let tag { look.headers["If-None-Match"] = tag }
        }
        if let failure = operation.error { throw StorageError(.operationFailed, message: failure.message) }
    }
}

/// Runs work on a file, and throws the SDK's error.
func reading<Value>(_ work: () throws -> Value) throws -> Value {
    do { return try work() } catch let error as StorageError { throw error } catch {
        throw StorageError(.local, message: "\(error)")
    }
}

/// Decodes a response's JSON. Nil without a body.
func decoded<Value: Decodable>(_ response: HTTPClientResponse) async throws -> Value? {
    let body = try await response.body.collect(upTo: 64 << 20)
    guard response.status != .notModified else { return nil }
    do { return try JSONDecoder.storage.decode(Value.self, from: Data(body.readableBytesView)) } catch {
        throw StorageError(.malformed, status: Int(response.status.code), message: "\(error)")
    }
}
