// SPDX-License-Identifier: MIT
public import Foundation

/// What the SDK can do. All functions throw ``StorageError`` or `CancellationError`.
public protocol ObjectStore: Sendable {
    /// A listing. Its pages are requested when they are needed.
    associatedtype Objects: AsyncSequence<StorageObject, any Error>

    /// Lists the objects of a bucket with a prefix, in all pages.
    func objects(in bucket: String, prefix: String?) -> Objects

    /// Returns the metadata of an object.
    func object(_ name: String, in bucket: String) async throws -> StorageObject

    /// Saves the content of an object's generation, and checks its checksum. An interrupted download is continued, also
    /// by a later call. The file is replaced only when everything has arrived.
    func download(_ object: StorageObject, to file: URL) async throws

    /// Creates an object from a file. The service refuses content that was damaged on its way.
    ///
    /// - Parameter generation: the generation that the upload replaces, or "0" if there must be no such object. Default:
    ///   nil (any). Only an upload with this condition is safe to retry.
    func upload(
        _ file: URL, as name: String, in bucket: String, contentType: String, replacing generation: String?
    ) async throws -> StorageObject

    /// Deletes an object, or only a certain generation.
    func delete(_ name: String, in bucket: String, generation: String?) async throws

    /// Restores deleted objects, and returns when the service has finished.
    ///
    /// - Parameter interval: the wait between two looks at the operation.
    func restore(_ globs: [String], in bucket: String, polling interval: Duration) async throws
}

/// A token for requests, with the end of its life.
public struct AccessToken: Sendable {
    /// The secret.
    public var value: String
    /// When the service refuses it.
    public var expiry: Date
    /// Creates a token.
    public init(_ value: String, expiry: Date) { (self.value, self.expiry) = (value, expiry) }

    /// Whether it should be replaced: in the last minute of its life.
    public var isOld: Bool { expiry.timeIntervalSinceNow < 60 }
}

/// Obtains tokens, for example from the metadata server or a service account's key.
public protocol TokenSource: Sendable {
    /// Returns a new token.
    func token() async throws -> AccessToken
}

extension JSONDecoder {
    /// Reads the service's dates, which have fractions of seconds.
    public static var storage: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            return try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        }
        return decoder
    }
}
