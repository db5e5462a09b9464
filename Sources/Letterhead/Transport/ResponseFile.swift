import Foundation

/// Saves a response under a hidden name next to its destination, so that a reader never finds an incomplete file there.
struct ResponseFile {
    private let place: URL
    private let draft: URL

    init(_ place: URL) {
        self.place = place
        draft = place.hiddenNeighbor("\(UInt64.random(in: 0 ... .max))")
    }

    /// Writes the whole body. If writing fails, the hidden file is removed.
    func save(_ body: HTTPResponseBody) async throws -> ResponseDraft {
        var count = 0
        do {
            try Data().write(to: draft, options: .withoutOverwriting)
            let file = try FileHandle(forWritingTo: draft)
            defer { try? file.close() }
            for try await chunk in body {
                try file.write(contentsOf: chunk)
                count += chunk.count
            }
            try file.synchronize()
        } catch {
            try? FileManager.default.removeItem(at: draft)
            throw error
        }
        return ResponseDraft(draft, for: place, count: count)
    }
}
