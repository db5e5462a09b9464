// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import OpenAPIRuntime

extension OpenAPIRuntime.HTTPBody {
    /// A request's body as a transport sends it. Nil if it is empty.
    convenience init?(_ chunks: BodyChunks) {
        if let data = chunks.data {
            if data.isEmpty { return nil }
            self.init(data)
        } else {
            self.init(chunks, length: chunks.length.map { .known(Int64($0)) } ?? .unknown, iterationBehavior: .single)
        }
    }

    /// A response's body. Nil if such a response has none.
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

    /// A body for a request.
    ///
    /// - Parameter limit: the largest number of bytes that are read into memory.
    /// - Throws: the error of a short body, which is read here.
    func letterheadBody(inMemoryUpTo limit: Int) async throws -> any Letterhead.HTTPBody {
        guard case .known(let count) = length else { return letterheadStream(length: nil) }
        guard count <= Int64(limit) else { return letterheadStream(length: Int(clamping: count)) }
        let data = try await Data(collecting: self, upTo: limit)
        // Sending refuses a body that is shorter or longer than its length.
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
    /// A transport's body.
    ///
    /// - Throws: `HTTPBodyError` if the body's length is negative.
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

/// Reads pieces one after another. An actor, because the iterator is mutable state.
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
