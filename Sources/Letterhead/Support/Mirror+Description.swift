extension Mirror {
    /// A mirror that shows the description only, so that no dump prints a secret.
    init<Subject: CustomStringConvertible>(describing subject: Subject, as style: DisplayStyle = .struct) {
        self.init(subject, unlabeledChildren: [subject.description], displayStyle: style)
    }
}
