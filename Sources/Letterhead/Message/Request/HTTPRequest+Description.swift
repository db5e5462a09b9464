extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method, the URL, the headers, and the media type and the length of the body. Secrets are redacted.
    public var description: String {
        var lines = [redaction.requestLine(of: self)]
        if !headers.isEmpty { lines.append(redaction.text(of: headers)) }
        if !body.isEmpty { lines += ["", Redaction.outline(of: body, headers: framedHeaders())] }
        return lines.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror with the redacted text, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPRequest {
    /// The method and the URL without values of the query, for messages.
    var outline: String {
        let shown = inItsEnvironment
        return "\(shown.method.printable) \(redaction.outline(of: shown))"
    }

    /// The header fields that are specific to one user: those that are marked as secret, or are secret by the redaction
    /// of the request or by the standard names. A redaction without the standard names does not make a field less
    /// secret.
    var secretHeaders: [HTTPHeaders.Field] { headers.filter { isSecret($0) } }

    /// The query items that are specific to one user, by the same rules.
    var secretQuery: [QueryParameters.Item] {
        query.filter { item in
            item.isSecret || redaction.isSecret(parameter: item.name)
                || Redaction.standard.isSecret(parameter: item.name)
        }
    }

    /// Returns whether a header field is specific to one user.
    func isSecret(_ field: HTTPHeaders.Field) -> Bool {
        field.isSecret || redaction.isSecret(header: field.name) || Redaction.standard.isSecret(header: field.name)
    }
}
