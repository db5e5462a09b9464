/// Why a document of a server was refused before its values were decoded; the rule, and never what the document holds.
struct InvalidDocument: Error, CustomStringConvertible {
    let description: String

    init(_ rule: String) { description = rule }
}
