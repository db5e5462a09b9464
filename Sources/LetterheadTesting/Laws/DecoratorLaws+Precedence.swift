import Letterhead

extension DecoratorLaws {
    /// What the base alone says survives in the members that are changed.
    func survival(_ base: LawTemplate) -> [LawViolation] {
        let decorated = decorate(base)
        var lost: [TemplateMember] = []
        if !base.headers.allSatisfy({ decorated.headers.values(for: $0.name) == base.headers.values(for: $0.name) }) {
            lost.append(.headers)
        }
        if !Self.keeps(decorated.query, base.query) { lost.append(.query) }
        if !Self.keeps(parameters(of: decorated), parameters(of: base)) { lost.append(.parameters) }
        if decorated.options[LawTemplate.Mark.self] != base.variant { lost.append(.options) }
        return lost.filter { changed.contains($0) }.map {
            LawViolation(
                law: "precedence", member: $0, reason: "loses what only the base says: begin with base.\($0.rawValue)")
        }
    }

    /// Who wins where both name the same thing is as was said.
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

    /// A name stands once among parameters, so there the one or the other wins.
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
        case .decorator, .unchecked: "of the base is not replaced where both say something: the decorator was to win"
        case .base: "of the base is replaced where both say something: the base was to win"
        case .both: "of base and decorator are not both there, the base's first, where both say something"
        }
    }

    private static func keeps(_ query: QueryParameters, _ base: QueryParameters) -> Bool {
        base.allSatisfy { query.values(for: $0.name) == base.values(for: $0.name) }
    }
}
