// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A body that sends values as newline-delimited JSON, and encodes them one at a time.
///
/// ```swift
/// NDJSONBody([row, row])          // values that you already have
/// NDJSONBody(once: measurements)  // any AsyncSequence of Encodable values
/// NDJSONBody { database.rows() }  // a new sequence for each attempt, so the request can be retried
/// ```
///
/// Use it for an API that expects one value per line, and to upload more values than fit in memory. Each value becomes
/// one line of JSON. On Linux, the transport encodes a value when the connection accepts more bytes. The transport over
/// `URLSession` encodes all values before it sends the request.
///
/// Sending fails with `.invalidRequest` if a value cannot be encoded, or if the encoder writes line breaks, for example
/// with `.prettyPrinted`. If some bytes were sent by then, the transport closes the connection (over HTTP/2, only the
/// stream), so that the server doesn't take the incomplete body for a complete one.
public struct NDJSONBody: HTTPBody, SteadyBody {
    private var stream: StreamBody

    /// Creates a body from a closure that creates a new sequence for each attempt.
    ///
    /// - Parameters:
    ///   - encoder: encodes each value. Default: nil (sorted keys and plain slashes).
    ///   - contentType: the media type. Default: `application/x-ndjson`.
    ///   - additionalHeaders: further headers. A Content-Type among them takes precedence.
    ///   - make: creates the sequence when its first value is needed. If it throws, the request fails.
    public init<Values: AsyncSequence & SendableMetatype>(
        encoder: (any HTTPBodyEncoder)? = nil, contentType: MediaType = "application/x-ndjson",
        additionalHeaders: HTTPHeaders = [:], _ make: @escaping @Sendable () async throws -> Values
    ) where Values.Element: Encodable & SendableMetatype {
        self.init(encoder, contentType, additionalHeaders, isReplayable: true, make)
    }

    /// Creates a body from a sequence that can be iterated only once. It isn't sent again for a retry, a redirect or
    /// new credentials. The defaults are the same as in ``init(encoder:contentType:additionalHeaders:_:)``.
    public init<Values: AsyncSequence & Sendable>(
        once values: Values, encoder: (any HTTPBodyEncoder)? = nil,
        contentType: MediaType = "application/x-ndjson", additionalHeaders: HTTPHeaders = [:]
    ) where Values.Element: Encodable & SendableMetatype {
        self.init(encoder, contentType, additionalHeaders, isReplayable: false) { values }
    }

    /// Creates a body from values that you already have, or that a lazy sequence produces while they are sent.
    ///
    /// A collection can be iterated again, so its body can be sent again. Any other sequence is sent at most once. The
    /// defaults are the same as in ``init(encoder:contentType:additionalHeaders:_:)``.
    public init<Values: Sequence & Sendable>(
        _ values: Values, encoder: (any HTTPBodyEncoder)? = nil, contentType: MediaType = "application/x-ndjson",
        additionalHeaders: HTTPHeaders = [:]
    ) where Values.Element: Encodable & SendableMetatype {
        let rows = AsyncPieces(pieces: values)
        self.init(encoder, contentType, additionalHeaders, isReplayable: values is any Collection) { rows }
    }

    private init<Values: AsyncSequence & SendableMetatype>(
        _ encoder: (any HTTPBodyEncoder)?, _ contentType: MediaType, _ additionalHeaders: HTTPHeaders,
        isReplayable: Bool,
        _ make: @escaping @Sendable () async throws -> Values
    ) where Values.Element: Encodable & SendableMetatype {
        stream = StreamBody(nil, contentType, additionalHeaders, isReplayable: isReplayable) {
            try await make().map { try Self.line(of: $0, encoder ?? JSONEncoder.standard) }
        }
    }

    public var additionalHeaders: HTTPHeaders { stream.additionalHeaders }

    /// Whether the body can be sent again. False if it has a sequence that can be iterated only once.
    public var isReplayable: Bool { stream.isReplayable }

    /// Returns the lines. Reading the first line starts the iteration over the values.
    public func chunks() throws -> BodyChunks { try stream.chunks() }

    private static func line(of value: some Encodable, _ encoder: any HTTPBodyEncoder) throws -> Data {
        var line = try encoder.encode(value)
        guard !line.contains(UInt8(ascii: "\n")) else {
            throw HTTPBodyError.invalid(
                "the encoder of an NDJSONBody wrote a line break, but must encode each value as one line")
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }
}
