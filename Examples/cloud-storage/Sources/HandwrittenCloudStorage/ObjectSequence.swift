// SPDX-License-Identifier: MIT
public import CloudStorage

/// A listing. Its pages are requested when they are needed.
public struct ObjectSequence: AsyncSequence, Sendable {
    let transport: Transport
    let bucket: String
    let prefix: String?

    public struct Iterator: AsyncIteratorProtocol {
        let sequence: ObjectSequence
        private var items: ArraySlice<StorageObject> = []
        private var token: String?
        private var seen: Set<String> = []
        private var isAtEnd = false

        init(sequence: ObjectSequence) { self.sequence = sequence }

        public mutating func next() async throws -> StorageObject? {
            while items.isEmpty {
                guard !isAtEnd else { return nil }
                let call = Call(
                    .GET, ["b", sequence.bucket, "o"], query: ["prefix": sequence.prefix, "pageToken": token])
                let page: ObjectPage = try await sequence.transport.json(call)
                items = page.items[...]
                token = page.nextPageToken.flatMap { $0.isEmpty ? nil : $0 }
                guard let token else {
                    isAtEnd = true
                    continue
                }
                if !seen.insert(token).inserted {
                    throw StorageError(.malformed, message: "the service returned the token of an earlier page")
                }
            }
            return items.popFirst()
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }
}
