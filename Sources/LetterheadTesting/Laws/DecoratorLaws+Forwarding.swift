// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

extension DecoratorLaws {
    /// Checks that every property that is not declared as changed equals that of the base.
    func forwarding(_ base: LawTemplate) async -> [LawViolation] {
        let differences = await TemplateReading(decorate(base)).differences(from: TemplateReading(base))
        return differences.filter { !changed.contains($0) && $0 != .page }.map {
            LawViolation(
                law: "forwarding", member: $0,
                reason: "differs from the base's: forward it, or declare it in DecoratorLaws(changing:)")
        }
    }

    /// Checks that `finish` of the base is called exactly once for a success, and exactly once for a failure, and that
    /// its result is used.
    func finishing(_ base: LawTemplate) async -> [LawViolation] {
        let request = HTTPRequest()
        let response = HTTPResponse(request: request, status: 200)
        let failure = HTTPError(.unknown, request: request)
        return await finishing(base, .success(response)) + finishing(base, .failure(failure))
    }

    private func finishing(_ base: LawTemplate, _ result: Result<HTTPResponse, HTTPError>) async -> [LawViolation] {
        let own = LawTemplate(variant: base.variant)
        let finished = try? await decorate(own).finish(result)
        let expected = try? await base.finish(result)
        let count = own.journal.heard.count
        let outcome = if case .success = result { "a success" } else { "a failure" }
        guard count == 1 else {
            return [
                LawViolation(
                    law: "forwarding", member: .finish,
                    reason: "calls the base \(count) times with \(outcome): call base.finish exactly once")
            ]
        }
        guard !changed.contains(.finish) else { return [] }
        if finished?.status == expected?.status, finished?.headers == expected?.headers { return [] }
        return [
            LawViolation(
                law: "forwarding", member: .finish,
                reason: "drops the base's result for \(outcome): return what base.finish returns")
        ]
    }

    /// Checks that decoding with the decorator returns the value that the base decodes.
    func decoding(_ base: LawTemplate) async -> [LawViolation] {
        guard !changed.contains(.decode) else { return [] }
        let response = HTTPResponse(request: HTTPRequest(), status: 200, body: HTTPResponseBody(Data("{}".utf8)))
        let found = try? await Self.decode(response, decorate(base))
        guard let found = found as? LawTemplate.Response, let own = try? await base.decode(response), found == own
        else {
            return [
                LawViolation(
                    law: "forwarding", member: .decode,
                    reason: "differs from the base's: use the Response of the base, and forward decode(_:)")
            ]
        }
        return []
    }

    private static func decode(_ response: HTTPResponse, _ template: some RequestTemplate) async throws -> any Sendable
    {
        try await template.decode(response)
    }
}
