import Foundation

/// The file to which a response is saved: written beside its place under another name, and put there when it is whole, so
/// that nobody ever finds a part of it.
struct ResponseFile {
    private let place: URL
    private let draft: URL

    init(_ place: URL) {
        self.place = place
        draft = place.deletingLastPathComponent()
            .appending(path: ".\(place.lastPathComponent).\(UInt64.random(in: 0 ... .max))")
    }

    /// Writes the whole body and puts the file in its place, over one that is there; leaves nothing when it fails.
    func save(_ body: HTTPResponseBody) async throws {
        do {
            try Data().write(to: draft, options: .withoutOverwriting)
            let file = try FileHandle(forWritingTo: draft)
            defer { try? file.close() }
            for try await chunk in body { try file.write(contentsOf: chunk) }
            try file.synchronize()
            guard rename(draft.path, place.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        } catch {
            try? FileManager.default.removeItem(at: draft)
            throw error
        }
    }
}
