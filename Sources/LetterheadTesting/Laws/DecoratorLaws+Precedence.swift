// SPDX-License-Identifier: MIT
import Letterhead

extension DecoratorLaws {
    /// Checks that values that only the base has are still present in the changed members.
    func survival(_ base: LawTemplate) -> [LawViolation] {
        let decorated = decorate(base)
        var lost: [TemplateMember] = []
        if !base.headers.allSatisfy({ decorated.headers.values(for: $0.name) == base.headers.values(for: $0.name) }) {
            lost.append(.headers)
        }
        if !Self.keeps(decorated.query, base.query) { lost.append(.query) }
        if !Self.keeps(parameters(of: decorated), parameters(of: base)) { lost.append(.parameters) }
        if decorated.options[option: LawTemplate.Mark.self] != base.variant { lost.append(.options) }
        return lost.filter { changed.contains($0) }.map {
            LawViolation(
                law: "precedence", member: $0,
                reason: "loses values that only the base has: start from base.\($0.rawValue)")
        }
    }

    /// Checks which value is used if the decorator and the base set the same name.
    func precedence(_ base: LawTemplate) -> [LawViolation] {
        guard precedence != .unchecked else { return [] }
        let decorated = decorate(base)
        var broken: [TemplateMember] = []
        for name in Set(decorated.headers.map(\.name)) where !base.headers.contains(name) {
            var other = base
            other.headers.append(name, "law")
            let values = decorate(other).headers.values(for: name)
            if values != expected(decorated.headers.values(for: name), "law") { broken.append(.headers) }
        }
        for name in Set(decorated.query.map(\.name)) where !base.query.contains(name) {
            var other = base
            other.query.append(name, "law")
            let values = decorate(other).query.values(for: name)
            if values != expected(decorated.query.values(for: name), "law") { broken.append(.query) }
        }
        return (broken + parameterPrecedence(base)).map { LawViolation(law: "precedence", member: $0, reason: reason) }
    }

    /// Checks parameters. A name occurs once among them, so either the decorator or the base determines its value.
    private func parameterPrecedence(_ base: LawTemplate) -> [TemplateMember] {
        let decorated = parameters(of: decorate(base))
        return Set(decorated.map(\.name)).filter { base.parameters[$0] == nil }.compactMap { name in
            var other = base
            other.parameters[name] = "law"
            let values = parameters(of: decorate(other)).values(for: name)
            return values == (precedence == .decorator ? decorated.values(for: name) : ["law"]) ? nil : .parameters
        }
    }

    private func parameters(of template: some RequestTemplate) -> QueryParameters {
        TemplateReading.query(of: template.parameters)
    }

    private func expected<Value>(_ own: [Value], _ base: Value) -> [Value] {
        switch precedence {
        case .decorator, .unchecked: own
        case .base: [base]
        case .both: [base] + own
        }
    }

    private var reason: String {
        switch precedence {
        case .decorator, .unchecked:
            "of the base is not replaced where both set a value: the decorator must take precedence"
        case .base: "of the base is replaced where both set a value: the base must take precedence"
        case .both: "of the base and of the decorator must both be present, the base's first, where both set a value"
        }
    }

    private static func keeps(_ query: QueryParameters, _ base: QueryParameters) -> Bool {
        base.allSatisfy { query.values(for: $0.name) == base.values(for: $0.name) }
    }
}
