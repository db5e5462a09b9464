extension HTTPResponse {
    /// Returns the response of a download. If a link or the template replaced the body, the new body is saved to the
    /// file.
    ///
    /// The file is hidden until the download is accepted. The transport leaves the body of a download empty.
    func savingReplacedBody(of request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard case .file(let url) = request.responseDelivery, request.saves(status),
            body.buffered?.isEmpty != true
        else { return self }
        var response = self
        do {
            let draft = try await ResponseFile(url).save(body)
            self.draft?.discard()
            response.draft = draft
            response.body = HTTPResponseBody()
        } catch {
            throw error is HTTPError ? HTTPError(error, request: request, response: self) : unsaved(error)
        }
        return response
    }
}
