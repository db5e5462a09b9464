// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import LetterheadStreaming

/// A response, and the endpoint that it belongs to.
///
/// If `values` is set, the body is a stream of such values. Otherwise, it is decoded as a whole. `isDecoded` tells
/// whether the client has already decoded the response.
typealias ContractResponse = (
    response: HTTPResponse, template: any RequestTemplate.Type, route: String,
    values: (any (Decodable & Sendable).Type)?, isDecoded: Bool
)

extension ContractReport {
    /// The maximum number of values that are read from a stream.
    private static let mostValues = 1_000
    /// The maximum number of values that are replaced in one document because the type can't decode them. With
    /// more of them, the report has only what the type had read until then.
    private static let mostReplacements = 16

    /// Reads recorded responses twice, and returns the report of the second pass. The first pass collects the values
    /// that replace those that don't fit. The notes are lines after the endpoints.
    static func reading(_ responses: [ContractResponse], notes: [String]) async -> ContractReport {
        let samples = ContractSamples()
        var report = ContractReport(limit: 100_000)
        for response in responses { await report.add(response, samples) }
        report = ContractReport(limit: 100_000, notes: notes)
        for response in responses { await report.add(response, samples) }
        return report
    }

    /// Reads a response. Redirects, and responses to templates without a decodable type, are left out.
    ///
    /// - Parameter samples: values to replace those that don't fit. Default: nil (reading ends at such a value).
    mutating func add(_ response: ContractResponse, _ samples: ContractSamples? = nil) async {
        func read<Template: RequestTemplate>(_ template: Template.Type) async {
            let message = response.response
            let endpoint = ContractEndpoint(
                method: ContractPlace.visible(message.request.method.rawValue),
                route: ContractPlace.visible(response.route), name: "\(template)")
            if message.request.accepts(message.status) {
                if let values = response.values {
                    await addValues(of: message, as: values, to: endpoint, samples)
                } else if let type = Template.Response.self as? any (Decodable & Sendable).Type {
                    await add(message, as: type, to: endpoint, samples, isDecoded: response.isDecoded)
                }
            } else if message.status.code >= 400, message.body.buffered?.isEmpty == false {
                let isProblem = message.mediaType?.essence == MediaType.problemJSON.essence
                if Template.Failure.self != Never.self {
                    await add(
                        message, as: Template.Failure.self, to: endpoint.with("failure"), samples, isProblem: isProblem)
                } else if isProblem {
                    await add(message, as: ProblemMembers.self, to: endpoint.with("problem"), samples)
                }
            }
        }
        await read(response.template)
    }

    private mutating func add<Value: Decodable & Sendable>(
        _ response: HTTPResponse, as type: Value.Type, to endpoint: ContractEndpoint, _ samples: ContractSamples?,
        isDecoded: Bool = false, isProblem: Bool = false
    ) async {
        let isText = type == Data.self || type == String.self || type == Data?.self || type == String?.self
        let isEmpty = response.body.buffered?.isEmpty ?? true
        // An empty body isn't a JSON value. An optional type accepts it as nil, so there is nothing to report.
        let isOptional = type is any ExpressibleByNilLiteral.Type && type != JSONValue.self
        guard !isText, !isEmpty || !isOptional else { return }
        await read(endpoint, samples) {
            _ = try await response.decode(ContractRoot<Value>.self)
            if isProblem { _ = try await response.decode(ContractRoot<ProblemMembers>.self) }
        } failing: { reading in
            reading.end(type, response.mediaType, isEmpty: isEmpty)
        } insteadOfFailing: {
            isDecoded ? ContractReading(ofCustomDecoding: type) : nil
        }
    }

    private mutating func addValues<Value: Decodable & Sendable>(
        of response: HTTPResponse, as type: Value.Type, to endpoint: ContractEndpoint, _ samples: ContractSamples?
    ) async {
        var values: [String] = []
        do {
            if response.mediaType?.essence == "text/event-stream" {
                for try await event in response.events() where event.isValue {
                    values.append(event.data)
                    if values.count == Self.mostValues { break }
                }
            } else {
                for try await value in response.values(as: JSONValue.self).prefix(Self.mostValues) {
                    values.append(value.description)
                }
            }
        } catch {
            let reading = ContractReading()
            _ = reading.end(type, response.mediaType, isEmpty: false)
            add(reading, to: endpoint)
        }
        for value in values {
            await read(endpoint.with("value"), samples) {
                let decoder = try (response.request.decoder ?? JSONDecoder()).decoder(for: .json)
                _ = try decoder.value(of: ContractRoot<Value>.self, from: Data(value.utf8))
            } failing: { reading in
                reading.end(type, .json, isEmpty: false)
            }
        }
    }

    /// Reads a document again and again, each time with one more value replaced, until it is read to its end or nothing
    /// more can be replaced.
    ///
    /// - Parameters:
    ///   - end: ends a reading that has failed, and returns the place that caused the error.
    ///   - other: returns a reading to add instead of the one that has failed, or nil. Default: nil.
    private mutating func read(
        _ endpoint: ContractEndpoint, _ samples: ContractSamples?, _ decode: () async throws -> Void,
        failing end: (ContractReading) -> String, insteadOfFailing other: () -> ContractReading? = { nil }
    ) async {
        var replaced: Set<String> = []
        while true {
            let reading = ContractReading(samples, replacing: replaced)
            do {
                try await ContractReading.$current.withValue(reading) { try await decode() }
            } catch {
                guard !Task.isCancelled else { return }
                if let other = other() { return add(other, to: endpoint) }
                let place = end(reading)
                let isReplaced = samples != nil && replaced.count < Self.mostReplacements
                if isReplaced, replaced.insert(place).inserted { continue }
            }
            return add(reading, to: endpoint)
        }
    }
}

extension ContractEndpoint {
    fileprivate func with(_ part: String) -> ContractEndpoint {
        ContractEndpoint(method: method, route: route, name: "\(name) \(part)")
    }
}

extension ServerSentEvent {
    fileprivate var isValue: Bool {
        !data.isEmpty && !data.isSame(as: "[DONE]") && !event.isSame(as: "ping") && !event.isSame(as: "error")
    }
}

/// The members of problem details that `ProblemDetails` reads (RFC 9457).
private struct ProblemMembers: Decodable {
    let type: String?
    let title: String?
    let status: Int?
    let detail: String?
    let instance: String?
}

extension HTTPResponse {
    fileprivate var mediaType: MediaType? { headers[.contentType].flatMap { MediaType($0) } }
}
