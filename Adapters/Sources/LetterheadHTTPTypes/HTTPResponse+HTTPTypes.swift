// SPDX-License-Identifier: MIT
public import HTTPTypes
public import Letterhead

extension HTTPTypes.HTTPResponse {
    /// Creates the head of a response: its status with the registered reason phrase, and its header fields.
    ///
    /// To convert the trailers, use `HTTPFields(response.trailers)` when the body has ended.
    ///
    /// - Throws: `.invalidResponse` if the status doesn't have three digits, or if a field isn't well formed. This
    ///   never happens for a response from the network.
    public init(_ response: Letterhead.HTTPResponse) throws(HTTPError) {
        guard (100...999).contains(response.status.code), let fields = HTTPFields(response.headers) else {
            throw HTTPError(
                .invalidResponse, request: response.request, response: response,
                message: "the status does not have three digits, or a header field is malformed")
        }
        self.init(
            status: Status(code: response.status.code, reasonPhrase: response.status.reasonPhrase),
            headerFields: fields)
    }
}

extension Letterhead.HTTPResponse {
    /// Creates the response to a request from a head and a body.
    ///
    /// - Parameters:
    ///   - head: the status and the header fields.
    ///   - request: the request that was sent.
    ///   - body: the body. Default: empty.
    public init(
        _ head: HTTPTypes.HTTPResponse, to request: Letterhead.HTTPRequest,
        body: HTTPResponseBody = HTTPResponseBody()
    ) {
        self.init(
            request: request, status: HTTPStatus(head.status.code), headers: HTTPHeaders(head.headerFields), body: body)
    }
}
