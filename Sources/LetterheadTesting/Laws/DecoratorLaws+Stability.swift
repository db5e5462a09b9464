import Letterhead

extension DecoratorLaws {
    /// Checks that two reads return the same, and that the base is not changed.
    func stability(_ base: LawTemplate) async -> [LawViolation] {
        let before = await TemplateReading(base)
        let decorated = decorate(base)
        let first = await TemplateReading(decorated)
        let unstable = await TemplateReading(decorated).differences(from: first)
        let changedInPlace = await TemplateReading(base).differences(from: before)
        return unstable.map {
            LawViolation(
                law: "stability", member: $0,
                reason: "differs between two reads: create it once, when the decorator is created")
        }
            + changedInPlace.map {
                LawViolation(law: "stability", member: $0, reason: "of the base was changed in place: change a copy")
            }
    }
}
