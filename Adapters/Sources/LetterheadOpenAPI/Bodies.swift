// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import OpenAPIRuntime

extension OpenAPIRuntime.HTTPBody {
    /// Creates the body that a transport sends, from the body of a request. Returns nil if that body is empty.
    convenience init?(_ chunks: BodyChunks) {
        if let data = chunks.data {
            if data.isEmpty { return nil }
            self.init(data)
        } else {
            self.init(chunks, length: chunks.length.map { .known(Int64($0)) } ?? .unknown, iterationBehavior: .single)
        }
    }

    /// Creates a body from the body of a response. Returns nil if such a response has no body.
    convenience init?(_ response: Letterhead.HTTPResponse) {
        let hasNone = response.request.method == .head || [.noContent, .notModified].contains(response.status)
        if hasNone { return nil }
        if let data = response.body.buffered {
            self.init(data)
        } else {
            let length = response.body.length.map { Length.known(Int64($0)) } ?? .unknown
            self.init(response.body, length: length, iterationBehavior: .single)
        }
    }

    /// Returns this body in a form that a client can send.
    ///
    /// - Parameter limit: the largest number of bytes that are read into memory.
    /// - Throws: an error from reading a short body, which is read into memory here.
    func letterheadBody(inMemoryUpTo limit: Int) async throws -> any Letterhead.HTTPBody {
        guard case .known(let count) = length else { return letterheadStream(length: nil) }
        guard count <= Int64(limit) else { return letterheadStream(length: Int(clamping: count)) }
        let data = try await Data(collecting: self, upTo: limit)
        // If the number of bytes is wrong, sending the body throws, because its length is the declared one.
        guard data.count == count else { return StreamBody(CollectionOfOne(data), length: Int(count)) }
        return data.isEmpty ? EmptyBody() : DataBody(data)
    }

    private func letterheadStream(length: Int?) -> any Letterhead.HTTPBody {
        let pieces = map { Data($0) }
        return iterationBehavior == .multiple
            ? StreamBody(length: length) { pieces } : StreamBody(once: pieces, length: length)
    }
}

extension HTTPResponseBody {
    /// Creates the body of a response from the body that a transport has returned.
    ///
    /// - Throws: `HTTPBodyError` if the declared length is negative.
    init(_ body: OpenAPIRuntime.HTTPBody?) throws {
        guard let body else {
            self.init()
            return
        }
        var length: Int?
        if case .known(let count) = body.length { length = Int(exactly: count) }
        let reader = BodyReader(try StreamBody(once: body.map { Data($0) }, length: length).chunks())
        self.init(length: length, pull: { try await reader.next() })
    }
}

/// Reads pieces one after the other. It is an actor because the iterator is mutable state.
private actor BodyReader {
    private var iterator: BodyChunks.Iterator

    init(_ chunks: BodyChunks) { iterator = chunks.makeAsyncIterator() }

    func next() async throws -> Data? {
        var current = iterator
        let piece = try await current.next()
        iterator = current
        return piece
    }
}
