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

extension HTTPRequest {
    /// The header fields that are for one user only: those that are secret by their own mark, by the request's redaction or
    /// by the standard names. A redaction that shows more in texts makes nothing less secret.
    var secretHeaders: [HTTPHeaders.Field] { headers.filter { isSecret($0) } }

    /// The query items that are for one user only, by the same rules.
    var secretQuery: [QueryParameters.Item] {
        query.filter { item in
            item.isSecret || redaction.isSecret(parameter: item.name)
                || Redaction.standard.isSecret(parameter: item.name)
        }
    }

    /// Whether a header field is for one user only.
    func isSecret(_ field: HTTPHeaders.Field) -> Bool {
        field.isSecret || redaction.isSecret(header: field.name) || Redaction.standard.isSecret(header: field.name)
    }
}
