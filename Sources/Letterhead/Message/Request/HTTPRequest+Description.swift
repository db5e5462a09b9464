extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and URL, the headers, and the body: its text, or hexadecimal when it is none. Secrets are redacted.
    public var description: String {
        let shown = shown
        var lines = ["\(shown.method.shown) \(redaction.url(of: shown))"]
        if !headers.isEmpty { lines.append(redaction.text(of: headers)) }
        if !body.isEmpty { lines += ["", isSecret ? Redaction.mark : redaction.text(of: body, headers: headers)] }
        return lines.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The redacted text only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}
