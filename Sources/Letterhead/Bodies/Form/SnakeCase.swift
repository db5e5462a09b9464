/// Names in snake case.
enum SnakeCase {
    /// The words of a name, joined by underscores and in lower case: `myURLProperty` is `my_url_property`.
    ///
    /// A word begins at an upper case letter after a lower case letter or a digit, and at the last upper case letter of
    /// several before a lower case letter. This is what `JSONEncoder` does.
    static func convert(_ name: String) -> String {
        let characters = Array(name)
        var result = ""
        for place in characters.indices {
            let character = characters[place]
            if place > 0, character.isUppercase, beginsWord(at: place, in: characters) { result += "_" }
            result += character.lowercased()
        }
        return result
    }

    private static func beginsWord(at place: Int, in characters: [Character]) -> Bool {
        let before = characters[place - 1]
        if before == "_" { return false }
        if !before.isUppercase { return true }
        return place + 1 < characters.count && characters[place + 1].isLowercase
    }
}
