// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// One event in an event stream (HTML Standard, section 9.2). `LetterheadStreaming` reads such streams.
///
/// ```swift
/// import LetterheadStreaming
///
/// for try await event in client.events(of: News()) { print(event.event, event.data) }
/// ```
public struct ServerSentEvent: Sendable, Hashable {
    /// The event type. Default: `message`.
    public var event: String
    /// The lines of data, joined by LF.
    public var data: String
    /// The last identifier that the stream has set, with this event or before it. Nil if it has set none.
    public var id: String?
    /// The reconnection time that the server has set with this event. Nil if it has set none.
    public var retry: Duration?

    /// The response that contains the event, without its body. Nil for an event that you have created.
    public var response: HTTPResponse?

    /// Creates an event without a response, for tests.
    public init(event: String = "message", data: String, id: String? = nil, retry: Duration? = nil) {
        (self.event, self.data, self.id, self.retry) = (event, data, id, retry)
    }

    public static func == (left: ServerSentEvent, right: ServerSentEvent) -> Bool {
        left.event.isSame(as: right.event) && left.data.isSame(as: right.data) && left.id.bytes == right.id.bytes
            && left.retry == right.retry
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: event)
        hasher.combine(bytesOf: data)
        hasher.combine(id.bytes)
        hasher.combine(retry)
    }
}

extension ServerSentEvent: CustomStringConvertible, CustomReflectable {
    /// The event type, the size of the data in bytes, and whether there is an identifier. The data itself is omitted.
    public var description: String {
        "ServerSentEvent(\(Redaction.visible(event)), \(data.utf8.count) bytes\(id == nil ? "" : ", with id"))"
    }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description], displayStyle: .struct) }
}
