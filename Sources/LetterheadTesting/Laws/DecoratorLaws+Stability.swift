import Letterhead

extension DecoratorLaws {
    /// Two reads give the same, and the base is what it was.
    func stability(_ base: LawTemplate) async -> [LawViolation] {
        let before = await TemplateReading(base)
        let decorated = decorate(base)
        let first = await TemplateReading(decorated)
        let unstable = await TemplateReading(decorated).differences(from: first)
        let changedInPlace = await TemplateReading(base).differences(from: before)
        return unstable.map {
            LawViolation(
                law: "stability", member: $0,
                reason: "differs between two reads: make it once, when the decorator is made")
        }
            + changedInPlace.map {
                LawViolation(law: "stability", member: $0, reason: "of the base was changed in place: change a copy")
            }
    }
}
