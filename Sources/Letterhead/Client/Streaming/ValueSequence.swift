// SPDX-License-Identifier: MIT
import Foundation

extension HTTPClient {
    /// Sends a template and decodes the JSON values of its response one at a time, as they arrive.
    ///
    /// ```swift
    /// for try await row in client.values(of: ExportRows(), as: Row.self) { print(row) }
    /// ```
    ///
    /// The request is sent when the first value is requested. Its ``RequestTemplate/decode(_:)`` is not called: its
    /// decoder, or that of the client, decodes each value. By default, the content type determines the format. At most
    /// one value and one chunk of the body are kept in memory; a value of more than `limit` bytes is
    /// `.responseTooLarge`. If a value cannot be decoded, all earlier values are delivered first; the error is then
    /// `.cannotDecodeResponse` and contains the number of the value. A truncated array or text sequence is
    /// `.invalidResponse`. Leaving the loop closes the connection. After ``reset()``, the next call of an iterator that
    /// has begun throws `.cancelled`.
    public func values<Template: RequestTemplate, Value: Decodable & Sendable>(
        of template: Template, as type: Value.Type, format: HTTPResponseBody.JSONFormat = .automatic,
        limit: Int = 16 << 20
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        ValueSequence<Value>(client: self, format: format, limit: limit) {
            try await $0.stream(ValueStreamTemplate(base: template, format: format))
        }
    }
}

private struct ValueStreamTemplate<Base: RequestTemplate>: RequestDecorator {
    typealias Response = Base.Response
    typealias Body = Base.Body

    let base: Base
    let format: HTTPResponseBody.JSONFormat

    var headers: HTTPHeaders {
        var headers = base.headers
        guard !headers.contains(.accept) else { return headers }
        headers[.accept] =
            switch format {
            case .automatic: "application/x-ndjson, application/json-seq, application/json;q=0.9"
            case .lines: "application/x-ndjson"
            case .textSequence: "application/json-seq"
            case .array: "application/json"
            }
        return headers
    }
}

private struct ValueSequence<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let client: HTTPClient
    let format: HTTPResponseBody.JSONFormat
    let limit: Int
    let connect: @Sendable (HTTPClient) async throws -> HTTPResponse

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    struct Iterator: AsyncIteratorProtocol {
        private let sequence: ValueSequence
        /// The generation of the client in which the connection was opened.
        private var generation: ClientGeneration?
        private var isAtEnd = false
        private var pieces: HTTPResponseBody.Iterator?
        private var splitter: JSONValueSplitter
        private var origin: HTTPResponseBody.Origin?
        private var number = 0

        init(sequence: ValueSequence) {
            self.sequence = sequence
            splitter = JSONValueSplitter(.lines, limit: sequence.limit)
        }

        mutating func next(isolation actor: (any Actor)?) async throws -> Value? { try await next() }

        mutating func next() async throws -> Value? {
            guard !isAtEnd else { return nil }
            do {
                if let value = try await nextValue() { return value }
                (isAtEnd, pieces) = (true, nil)
                return nil
            } catch {
                (isAtEnd, pieces) = (true, nil)
                throw (error as? HTTPError)?.orCancellation ?? error
            }
        }

        private mutating func nextValue() async throws -> Value? {
            if origin == nil { try await connect() }
            while let body = pieces {
                // The values of a chunk that arrived before a reset belong to the previous user.
                guard generation?.hasEnded != true else {
                    throw error(.cancelled, "the client was reset; start a new sequence of values")
                }
                do {
                    if let text = try splitter.next() { return try decode(text) }
                    var body = body
                    guard let piece = try await body.next() else {
                        pieces = nil
                        return try splitter.end().map { try decode($0) }
                    }
                    pieces = body
                    splitter.append(piece)
                } catch let fault as JSONValueSplitter.Fault {
                    throw error(fault.code, "value \(number + 1): \(fault.message)")
                }
            }
            return nil
        }

        private mutating func connect() async throws {
            let client = sequence.client.pinned()
            generation = client.generation
            let response = try await sequence.connect(client)
            origin = HTTPResponseBody.Origin(response)
            let type = response.headers.mediaType
            splitter = JSONValueSplitter(
                JSONValueSplitter.Format(sequence.format, for: type), limit: sequence.limit)
            pieces = response.body.makeAsyncIterator()
        }

        private mutating func decode(_ text: Data) throws -> Value {
            number += 1
            let decoder = origin?.request.decoder ?? JSONDecoder()
            do {
                return try decoder.value(of: Value.self, from: text)
            } catch let failure {
                let problem = DecodingProblem(
                    failure, type: Value.self, in: text, decoder: decoder, for: origin?.request)
                throw error(.cannotDecodeResponse, "value \(number): \(problem)", underlying: failure)
            }
        }

        private func error(
            _ code: HTTPError.Code, _ message: String, underlying: (any Error)? = nil
        ) -> HTTPError {
            HTTPResponseBody.Origin.error(origin, code, message, underlying: underlying)
        }
    }
}
