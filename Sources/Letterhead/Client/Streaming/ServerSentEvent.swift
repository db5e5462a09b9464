// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// One event in an event stream (HTML Standard, section 9.2).
///
/// ```swift
/// for try await event in client.events(of: News()) { print(event.event, event.data) }
/// ```
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's type. Default: `message`.
    public var event: String
    /// The lines of data, joined by LF.
    public var data: String
    /// The stream's last identifier, set with this event or before it. Nil if it has set none.
    public var id: String?
    /// The reconnection time that the server has set with this event. Nil if it has set none.
    public var retry: Duration?

    /// The response that contains the event. Nil for an event that a caller has created.
    var origin: HTTPResponseBody.Origin?

    /// Creates an event, for tests.
    public init(event: String = "message", data: String, id: String? = nil, retry: Duration? = nil) {
        (self.event, self.data, self.id, self.retry) = (event, data, id, retry)
    }

    /// Determines which content types are read as an event stream.
    public enum ContentTypes: Hashable, Sendable {
        /// `text/event-stream`, as the HTML Standard requires.
        case eventStream
        /// All, for a server that sends events as `text/plain` or without a type. A page of a proxy is then read as an
        /// event stream without events.
        case any
    }

    /// Determines what follows an event whose data cannot be decoded.
    public enum Undecodable: Sendable {
        /// The error is thrown, after the earlier events' values.
        case fail
        /// The event is skipped, and the closure is called with the error.
        case skip(@Sendable (HTTPError) -> Void)
    }

    /// Decodes the data, with the template's or the client's decoder by default. For an event that you created
    /// yourself, the default is a plain `JSONDecoder`.
    ///
    /// - Throws: ``HTTPError/Code/cannotDecodeResponse`` with the `DecodingError` as the underlying error.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, decoder: (any HTTPBodyDecoder)? = nil
    ) throws -> Value {
        let decoder = decoder ?? origin?.request.decoder ?? JSONDecoder()
        let text = Data(data.utf8)
        do {
            return try decoder.value(of: type, from: text)
        } catch {
            let problem = DecodingProblem(error, type: type, in: text, decoder: decoder, for: origin?.request)
            throw HTTPResponseBody.Origin.error(
                origin, .cannotDecodeResponse, "event \"\(event)\": \(problem)", underlying: error)
        }
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
    /// The event's type, its data's size in bytes, and whether it has an identifier. The data itself is omitted.
    public var description: String {
        "ServerSentEvent(\(Redaction.visible(event)), \(data.utf8.count) bytes\(id == nil ? "" : ", with id"))"
    }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description], displayStyle: .struct) }
}
