/// The name of a value, from the inside out. A class, because a node is shared by all that is within it.
final class FormPath {
    enum Step {
        case key(any CodingKey)
        case index(Int)
    }

    let parent: FormPath?
    let step: Step

    init(_ parent: FormPath?, _ step: Step) {
        (self.parent, self.step) = (parent, step)
    }

    convenience init(_ parent: FormPath?, name: String) { self.init(parent, .key(FormKey(stringValue: name))) }

    var codingKey: any CodingKey {
        switch step {
        case .key(let key): key
        case .index(let index): FormKey(intValue: index)
        }
    }
}

extension FormPath? {
    /// The path as errors tell it.
    var codingPath: [any CodingKey] {
        guard let self else { return [] }
        return self.parent.codingPath + [self.codingKey]
    }
}

/// A key made of a text or a number.
struct FormKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = (String(intValue), intValue) }
}
