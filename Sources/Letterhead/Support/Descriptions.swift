extension Mirror {
    /// A mirror that shows the description only, so that no dump prints a secret.
    init<Subject: CustomStringConvertible>(describing subject: Subject, as style: DisplayStyle = .struct) {
        self.init(subject, unlabeledChildren: [subject.description], displayStyle: style)
    }
}

/// Why a document of a server was refused before its values were decoded; the rule, and never what the document holds.
struct InvalidDocument: Error, CustomStringConvertible {
    let description: String

    init(_ rule: String) { description = rule }
}
