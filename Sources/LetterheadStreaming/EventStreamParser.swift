// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Finds the events in an event stream (HTML Standard, section 9.2.6).
struct EventStreamParser: ElementParser {
    static let name = "event stream"

    private let types: ServerSentEvent.ContentTypes
    private let limit: Int
    private var lines: LineSplitter
    private var fields: EventFields

    var lastID: String { fields.lastID }
    var reconnectionTime: Duration? { fields.reconnectionTime }

    /// Whether an event is the last one of the stream, which may lack its blank line.
    var isLast: (@Sendable (ServerSentEvent) -> Bool)?

    mutating func forgetID() { fields.lastID = "" }

    /// - Parameter limit: the maximum number of bytes in a line and in event data.
    init(_ types: ServerSentEvent.ContentTypes = .eventStream, limit: Int) {
        (self.types, self.limit) = (types, limit)
        lines = LineSplitter(limit: limit, endsAtCarriageReturn: true)
        fields = EventFields(limit: limit)
    }

    mutating func begin(_ response: HTTPResponse) throws {
        let type = response.mediaType?.essence
        guard types == .any || type == "text/event-stream" else {
            let rule = "expected a response of type text/event-stream, and received \(type ?? "no Content-Type")"
            throw StreamFault(rule + " (if it is an event stream, set contentTypes to .any)")
        }
        lines = LineSplitter(limit: limit, endsAtCarriageReturn: true)
        fields = EventFields(limit: limit, lastID: lastID, reconnectionTime: reconnectionTime)
    }

    mutating func append(_ piece: Data) { lines.append(piece) }

    mutating func next() throws -> ServerSentEvent? { try Self.next(&lines, &fields) }

    /// Returns the event that the body ended with, if it is the last one of the stream. Some servers end the body
    /// directly after it. An event is complete only at the blank line after it, so any other event is dropped.
    func end() -> ServerSentEvent? {
        guard let isLast else { return nil }
        var (lines, fields) = (lines, fields)
        lines.append(Data("\n\n".utf8))
        guard let event = try? Self.next(&lines, &fields), isLast(event) else { return nil }
        return event
    }

    private static func next(_ lines: inout LineSplitter, _ fields: inout EventFields) throws -> ServerSentEvent? {
        var event: ServerSentEvent?
        do {
            try lines.next { line in
                event = try unsafe fields.take(line)
                return event != nil
            }
            return event
        } catch is LineSplitter.LineTooLong {
            throw StreamFault(
                code: .responseTooLarge, message: "a line is larger than the \(fields.limit) bytes allowed")
        }
    }
}

/// Interprets lines in an event stream, and returns an event at the blank line that ends it.
///
/// It reads a line only within the call, and no byte beyond the end of the line.
private struct EventFields: Sendable {
    let limit: Int
    private var isAtStart = true
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var retry: Duration?
    /// An identifier that a field has set. It takes effect at the next blank line.
    private var pendingID: String?
    /// The last identifier in the stream. It also applies to the next connection.
    var lastID: String
    /// The reconnection time that the server has set, in this connection or in an earlier one.
    private(set) var reconnectionTime: Duration?

    /// - Parameters:
    ///   - limit: the maximum number of bytes in event data.
    ///   - lastID: the last identifier from the previous connection.
    ///   - reconnectionTime: the reconnection time from the previous connection.
    init(limit: Int, lastID: String = "", reconnectionTime: Duration? = nil) {
        (self.limit, self.lastID, self.reconnectionTime) = (limit, lastID, reconnectionTime)
    }

    /// Processes the next line. Returns an event if the line is the blank line that ends it and if the event has data.
    /// Otherwise, returns nil.
    mutating func take(_ line: UnsafeRawBufferPointer) throws -> ServerSentEvent? {
        let hasMark = unsafe isAtStart && line.starts(with: [0xEF, 0xBB, 0xBF])
        let line = unsafe hasMark ? UnsafeRawBufferPointer(rebasing: line.dropFirst(3)) : line
        isAtStart = false
        if unsafe line.isEmpty { return dispatch() }
        var nameEnd = 0
        while nameEnd < line.count, unsafe line[nameEnd] != UInt8(ascii: ":") { nameEnd += 1 }
        if nameEnd == 0 { return nil }
        var start = min(nameEnd + 1, line.count)
        if start < line.count, unsafe line[start] == UInt8(ascii: " ") { start += 1 }
        let name = unsafe UnsafeRawBufferPointer(rebasing: line[..<nameEnd])
        try unsafe field(name, UnsafeRawBufferPointer(rebasing: line[start...]))
        return nil
    }

    private mutating func field(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        if unsafe Self.isSame(name, "data") {
            guard data.count + value.count + (hasData ? 1 : 0) <= limit else {
                throw StreamFault(
                    code: .responseTooLarge,
                    message: "the data of an event is larger than the \(limit) bytes allowed")
            }
            if hasData { data.append(UInt8(ascii: "\n")) }
            hasData = true
            unsafe data.append(contentsOf: value)
        } else if unsafe Self.isSame(name, "event") {
            type = unsafe String(decoding: value, as: UTF8.self)
        } else if unsafe Self.isSame(name, "id") {
            if unsafe !value.contains(0) { pendingID = unsafe String(decoding: value, as: UTF8.self) }
        } else if unsafe Self.isSame(name, "retry") {
            guard unsafe !value.isEmpty, unsafe value.allSatisfy({ (48...57).contains($0) }) else { return }
            // A number that is too large for an integer is an extremely long time. The limit on waits then reduces it.
            let milliseconds = unsafe Int64(String(decoding: value, as: UTF8.self)) ?? .max
            retry = .milliseconds(min(milliseconds, 1 << 50))
            reconnectionTime = retry
        }
    }

    private static func isSame(_ bytes: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        guard bytes.count == name.utf8CodeUnitCount, let start = bytes.baseAddress else { return false }
        return unsafe memcmp(start, name.utf8Start, bytes.count) == 0
    }

    mutating func dispatch() -> ServerSentEvent? {
        if let pendingID { lastID = pendingID }
        defer {
            data.removeAll(keepingCapacity: data.capacity <= 65_536)
            (type, hasData, retry, pendingID) = ("", false, nil, nil)
        }
        guard hasData else { return nil }
        return ServerSentEvent(
            event: type.isEmpty ? "message" : type, data: String(decoding: data, as: UTF8.self),
            id: lastID.isEmpty ? nil : lastID, retry: retry)
    }
}
