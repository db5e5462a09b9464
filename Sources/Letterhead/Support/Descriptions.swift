// SPDX-License-Identifier: MIT
extension Mirror {
    /// Creates a mirror that shows only the description, so that `dump` prints no secrets.
    init<Subject: CustomStringConvertible>(describing subject: Subject, as style: DisplayStyle = .struct) {
        self.init(subject, unlabeledChildren: [subject.description], displayStyle: style)
    }
}

/// The rule that a document violates. It never contains document content, which the server controls.
struct InvalidDocument: Error, CustomStringConvertible {
    let description: String

    init(_ rule: String) { description = rule }
}
