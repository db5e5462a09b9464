// SPDX-License-Identifier: MIT
public import Foundation

/// An object's metadata. The service sends 64-bit numbers as strings.
public struct StorageObject: Codable, Sendable, Equatable {
    /// The name, which may contain slashes.
    public var name: String
    /// The bucket that contains the object.
    public var bucket: String
    /// The version of the content, a number.
    public var generation: String
    /// The content's length in bytes, a number.
    public var size: String
    /// The content's CRC32C in Base64, in network order.
    public var crc32c: String
    /// The media type.
    public var contentType: String?
    /// When the metadata last changed.
    public var updated: Date?

    /// Creates metadata, for tests.
    public init(
        name: String, bucket: String, generation: String, size: String, crc32c: String, contentType: String? = nil,
        updated: Date? = nil
    ) {
        (self.name, self.bucket, self.generation, self.size) = (name, bucket, generation, size)
        (self.crc32c, self.contentType, self.updated) = (crc32c, contentType, updated)
    }
}

/// One page of a listing.
public struct ObjectPage: Codable, Sendable, Equatable {
    /// The page's objects.
    public var items: [StorageObject]
    /// The token of the next page. Nil for the last page.
    public var nextPageToken: String?

    /// Creates a page, for tests.
    public init(items: [StorageObject], nextPageToken: String? = nil) {
        (self.items, self.nextPageToken) = (items, nextPageToken)
    }

    /// Reads a page. The service omits an empty list.
    public init(from decoder: any Decoder) throws {
        let page = try decoder.container(keyedBy: CodingKeys.self)
        items = try page.decodeIfPresent([StorageObject].self, forKey: .items) ?? []
        nextPageToken = try page.decodeIfPresent(String.self, forKey: .nextPageToken)
    }
}

/// The metadata that an upload sends in front of the content.
public struct ObjectDraft: Codable, Sendable, Equatable {
    /// The object's name.
    public var name: String
    /// The media type.
    public var contentType: String
    /// The checksum that the content must have. The service refuses any other content.
    public var crc32c: String
    /// Creates the metadata of a new object.
    public init(name: String, contentType: String, crc32c: String) {
        (self.name, self.contentType, self.crc32c) = (name, contentType, crc32c)
    }
}

/// What a bulk restore brings back.
public struct RestoreRequest: Codable, Sendable, Equatable {
    /// The patterns of the objects' names.
    public var matchGlobs: [String]
    /// Creates a request.
    public init(matchGlobs: [String]) { self.matchGlobs = matchGlobs }
}

/// A job that the service runs after its response.
public struct StorageOperation: Codable, Sendable, Equatable {
    /// What went wrong.
    public struct Failure: Codable, Sendable, Equatable {
        /// A code of `google.rpc.Code`.
        public var code: Int
        /// The reason, for people.
        public var message: String
        /// Creates a failure, for tests.
        public init(code: Int, message: String) { (self.code, self.message) = (code, message) }
    }

    /// The full name. Its last segment is the identifier.
    public var name: String
    /// Whether it has ended.
    public var done: Bool?
    /// Why it failed, if it did.
    public var error: Failure?

    /// The last segment of the name.
    public var identifier: String { name.split(separator: "/").last.map(String.init) ?? name }

    /// Creates an operation, for tests.
    public init(name: String, done: Bool? = nil, error: Failure? = nil) {
        (self.name, self.done, self.error) = (name, done, error)
    }
}
