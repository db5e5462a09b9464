// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

extension ServerSentEvent {
    /// Determines which content types are read as an event stream.
    public enum ContentTypes: Hashable, Sendable {
        /// `text/event-stream`, as the HTML Standard requires.
        case eventStream
        /// All content types. Use it for a server that sends events as `text/plain` or without a type. If a proxy
        /// responds with a web page instead, the page is read as a stream without events, and no error is thrown.
        case any
    }

    /// Determines what happens after an event whose data can't be decoded.
    public enum Undecodable: Sendable {
        /// The error is thrown, after the values of earlier events were delivered.
        case fail
        /// The event is skipped. The closure is called with the error, for example to log it.
        case skip(@Sendable (HTTPError) -> Void)
    }

    /// Decodes the event data.
    ///
    /// By default, it uses the template decoder, or else the client decoder. For an event that you created yourself,
    /// the default is a `JSONDecoder`.
    ///
    /// - Throws: `.cannotDecodeResponse` with the `DecodingError` as the underlying error.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, decoder: (any HTTPBodyDecoder)? = nil
    ) throws -> Value {
        let decoder = decoder ?? response?.decoder ?? JSONDecoder()
        let text = Data(data.utf8)
        do {
            return try decoder.value(of: type, from: text)
        } catch {
            let problem = decoder.problem(error, decoding: type, from: text, for: response?.request)
            throw HTTPError(
                .cannotDecodeResponse, request: response?.request ?? HTTPRequest(), response: response,
                underlying: error, message: "event \"\(event)\": \(problem)")
        }
    }
}
