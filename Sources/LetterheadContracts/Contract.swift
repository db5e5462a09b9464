// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
public import LetterheadRecording
public import LetterheadTesting

/// Compares the types of your endpoints with the responses that a server has sent.
///
/// A type that decodes a response today may still ask for something that the server is about to drop, and ignore what
/// it has added. Check a recording, print the report, and keep what it has found in a file:
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
    /// Decodes a cassette's responses to the types of endpoints, and reports what doesn't fit and what no type reads.
    ///
    /// A response with a status from 200 to 299 is decoded to the template's `Response`, and an error to its `Failure`
    /// and, if it has problem details, to their members. Decoding continues after a value that doesn't fit: another
    /// response's value of the same type replaces it, or one that the type decodes from `null`, `{}` or another empty
    /// value. Where neither exists, the report tells where decoding ended.
    ///
    /// A cassette knows the name of each recorded response's template. If several of the types have one name, as
    /// `Users.Get` and `Teams.Get` do, list their routes, and do so for another program's archive. A type that decodes
    /// itself is visible only in part. For a template with a custom `decode(_:)`, list its route with a
    /// template that has the body's type, such as `Get<Envelope>`.
    ///
    /// - Parameters:
    ///   - cassette: the recording. An archive of another program is opened with `Cassette(file, mode: .replay)`.
    ///   - endpoints: the templates' types.
    ///   - routes: endpoints by their routes, for requests without a recorded template. The first match counts.
    ///     Default: none.
    ///   - values: the type of a stream's values or events, by its template. The first 1,000 are decoded. Default:
    ///     none.
    ///   - decoder: the decoder of the program's client. Default: a plain `JSONDecoder`.
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
