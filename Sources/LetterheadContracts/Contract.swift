// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
public import LetterheadRecording
public import LetterheadTesting

/// Compares the types of your endpoints with the responses that a server has sent.
///
/// A type that decodes a response today may still require a member that the server is about to drop, and may ignore
/// what the server has added. Check a recording, print the report, and keep its findings in a file:
///
/// ```swift
/// let cassette = try Cassette(URL(filePath: "github.har"), mode: .replay)
/// let report = try await Contract.check(cassette, against: GetUser.self, ListRepos.self)
/// print(report)
/// try report.expect(noBreakSince: "github.contract")
/// ```
///
/// To check in production, use ``ContractObserver``.
public enum Contract {
    /// Decodes the responses in a cassette to the types of endpoints, and reports what doesn't fit and what no type
    /// reads.
    ///
    /// A response with a status from 200 to 299 is decoded to the `Response` of its template, and an error to its
    /// `Failure`. The report also checks the members of problem details.
    ///
    /// Decoding continues after a value that doesn't fit, so one report shows everything. The value is replaced by one
    /// of the same type from a different response, or by one that the type decodes from `null`, `{}` or a similar empty
    /// value. Where neither exists, the report tells where decoding ended.
    ///
    /// A cassette stores a template name for each response. List an endpoint in `routes` instead if:
    ///
    /// - several of the types have one name, as `Users.Get` and `Teams.Get` do,
    /// - a different program recorded the archive, or
    /// - the template has a custom `decode(_:)`. List its route with a template for the type of the body, such as
    ///   `Get<Envelope>`.
    ///
    /// A type that decodes itself is visible only in part.
    ///
    /// - Parameters:
    ///   - cassette: the recording. Open an archive from a different program with `Cassette(file, mode: .replay)`.
    ///   - endpoints: the template types.
    ///   - routes: endpoints by their routes, for requests without a recorded template. The first match counts.
    ///     Default: none.
    ///   - values: the types of the values or events in streams, by template. The first 1,000 values of a stream are
    ///     decoded. Default: none.
    ///   - decoder: the decoder that your client uses. Default: a plain `JSONDecoder`.
    /// - Throws: `CancellationError` if the calling task was cancelled.
    public static func check(
        _ cassette: Cassette, against endpoints: any RequestTemplate.Type...,
        routes: KeyValuePairs<StubRoute, any RequestTemplate.Type> = [:],
        values: KeyValuePairs<any RequestTemplate.Type, any (Decodable & Sendable).Type> = [:],
        decoder: any HTTPBodyDecoder = JSONDecoder()
    ) async throws -> ContractReport {
        let known = endpoints + routes.map(\.value) + values.map(\.key)
        let named = Dictionary(grouping: known) { String(describing: $0) }
        var responses: [ContractResponse] = []
        var unmatched: Set<String> = []
        var matched: Set<ObjectIdentifier> = []
        for var recorded in cassette.responses {
            recorded.response.request.decoder = decoder
            let request = recorded.response.request
            let route = routes.first { $0.key.matches(request, body: recorded.sent) }
            let candidates = recorded.template.flatMap { named[$0] } ?? []
            let isClear = candidates.allSatisfy { $0 == candidates[0] }
            guard let template = (isClear ? candidates.first : nil) ?? route?.value else {
                let reason = isClear ? "" : " (several templates are named \(candidates[0]))"
                let path = String((request.target.cut(at: "?")?.head ?? request.target[...]).prefix(100))
                unmatched.insert("\(request.method.printable) \(Redaction.visible(path))\(reason)")
                continue
            }
            matched.insert(ObjectIdentifier(template))
            let name = recorded.route ?? route?.key.pattern ?? "(no route)"
            let value = values.first { $0.key == template }?.value
            responses.append((recorded.response, template, route: name, values: value, isDecoded: false))
        }
        let unused = known.filter { !matched.contains(ObjectIdentifier($0)) }.map { "\($0)" }
        let notes = [
            ("without an endpoint", unmatched.sorted()), ("without a response", Set(unused).sorted()),
        ].filter { !$1.isEmpty }.map { "\($0): \($1.joined(separator: ", "))" }
        let report = await ContractReport.reading(responses, notes: notes)
        try Task.checkCancellation()
        return report
    }
}
