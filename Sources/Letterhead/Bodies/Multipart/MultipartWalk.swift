import Foundation

/// One walk over a multipart body: what is in memory as it is, files and streams as they are pulled.
///
/// An actor, because it remembers where it is.
actor MultipartWalk {
    /// Bytes are put together up to this size, so that a small part is no piece of its own; larger ones are not copied.
    private static let joined = 64 << 10

    private let boundary: String
    private let isSearched: Bool
    private let parts: [MultipartPart]
    private var index = 0
    private var isClosed = false
    private var pending = Data()
    private var current: (walk: BodyChunks.Iterator, scanner: BoundaryScanner?)?

    /// - Parameters:
    ///   - isSearched: whether what is pulled must be searched for the boundary.
    ///   - parts: the parts, their bodies asked for their bytes.
    init(boundary: String, isSearched: Bool, _ parts: [MultipartPart]) {
        (self.boundary, self.isSearched, self.parts) = (boundary, isSearched, parts)
    }

    /// The next piece; nil at the end.
    func next() async throws -> Data? {
        while true {
            if let chunk = try await pulled() { return chunk }
            if index < parts.count {
                open(parts[index])
            } else if !isClosed {
                isClosed = true
                pending += Data("--\(boundary)--\r\n".utf8)
            } else if pending.isEmpty {
                return nil
            }
            if current != nil || isClosed || pending.count >= Self.joined {
                defer { pending = Data() }
                return pending
            }
        }
    }

    /// Begins a part, and ends it if its content is small enough to be put to the rest.
    private func open(_ part: MultipartPart) {
        pending += Data("--\(boundary)\r\n".utf8) + part.fields.bytes
        switch part.content {
        case .text(let text) where text.utf8.count < Self.joined:
            pending += Data(text.utf8)
            close()
        case .data(let data) where data.count < Self.joined:
            pending += data
            close()
        case .text(let text): current = (BodyChunks(Data(text.utf8)).makeAsyncIterator(), nil)
        case .data(let data): current = (BodyChunks(data).makeAsyncIterator(), nil)
        case .pulled(let chunks):
            current = (chunks.makeAsyncIterator(), isSearched ? BoundaryScanner(boundary: boundary) : nil)
        case .body: close()
        }
    }

    private func close() {
        pending += Data("\r\n".utf8)
        current = nil
        index += 1
    }

    /// The next piece of the content that is being pulled; nil when there is none, or no more of it.
    private func pulled() async throws -> Data? {
        guard var (walk, scanner) = current else { return nil }
        do {
            guard let chunk = try await walk.next() else {
                close()
                return nil
            }
            if scanner?.finds(in: chunk) == true { throw MultipartBody.boundaryInside(part: index) }
            current = (walk, scanner)
            return chunk
        } catch let error as HTTPBodyError {
            throw error.inside(part: index)
        }
    }
}
