// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// Record an HTTP Archive (HAR 1.2) in memory, to look at a client's traffic in a browser or to attach it to a bug
/// report.
///
/// ```swift
/// let recorder = HARRecorder()
/// let client = HTTPClient(environment: .production, observers: [recorder])
/// …
/// try recorder.data().write(to: URL(filePath: "report.har"))
/// ```
///
/// The archive has an entry for each exchange: each attempt and each hop of a redirect. It includes bodies up to a
/// limit, and copies a streamed body while its reader reads it. Secrets are redacted, but check the archive before you
/// pass it on: values that `Redaction` doesn't know can be private, too.
public final class HARRecorder: HTTPObserver {
    private struct Key: Hashable {
        let load: Int
        let exchange: Int
    }

    private struct State {
        var entries: [Key: HAREntry] = [:]
        var order: [Key] = []
        var removed = 0
    }

    private let maximumEntries: Int
    private let maximumBodySize: Int
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    /// Over `maximumEntries`, the recorder drops the oldest entry. `maximumBodySize` limits the bytes of each body in
    /// the archive. 0 leaves bodies out.
    public init(
        maximumEntries: Int = 1_000, maximumBodySize: Int = 64 << 10, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.maximumEntries = max(1, maximumEntries)
        self.maximumBodySize = max(0, maximumBodySize)
        self.now = now
    }

    public func record(_ event: HTTPEvent) {
        guard let exchange = event[.exchange] else { return }
        let key = Key(load: event.load, exchange: exchange)
        state.withLock { state in
            if event.name == .exchangeStart { add(key, event, to: &state) }
            state.entries[key]?.note(event)
        }
    }

    public var count: Int { state.withLock { $0.entries.count } }

    public func removeAll() { state.withLock { $0 = State() } }

    /// The archive as JSON.
    ///
    /// - Throws: an `EncodingError` if a string cannot be encoded.
    public func data() throws -> Data {
        let (entries, removed) = state.withLock { state in
            (state.order.compactMap { state.entries[$0] }, state.removed)
        }
        let comment = removed == 0 ? nil : "\(removed) older entries were removed"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(HARFile(entries: entries.map(HARFile.Entry.init), comment: comment))
    }

    private func add(_ key: Key, _ event: HTTPEvent, to state: inout State) {
        if state.order.count >= maximumEntries {
            state.entries[state.order.removeFirst()] = nil
            state.removed += 1
        }
        state.order.append(key)
        state.entries[key] = HAREntry(event, date: now(), bodyLimit: maximumBodySize)
    }
}

extension HARRecorder: MessageObserver {
    public func record(_ message: ObservedMessage, of event: HTTPEvent) {
        guard let exchange = event[.exchange] else { return }
        let key = Key(load: event.load, exchange: exchange)
        // Bodies are encoded and redacted outside the lock.
        let content: HAREntry.Content? =
            switch message {
            case .request(let request): .request(HARMessage(request, limit: maximumBodySize))
            case .response(let response): .response(HARMessage(response, limit: maximumBodySize))
            case .piece(let data): .piece(data)
            }
        guard let content else { return }
        state.withLock { $0.entries[key]?.note(content) }
    }
}
