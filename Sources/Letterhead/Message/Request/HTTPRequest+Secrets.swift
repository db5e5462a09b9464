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
