// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

extension HTTPResponse {
    /// Returns a `200 OK` response with a value as JSON.
    public static func ok(
        _ request: HTTPRequest, json value: some Encodable, encoder: JSONEncoder = JSONEncoder()
    ) throws -> HTTPResponse {
        HTTPResponse(
            request: request, status: .ok, headers: ["Content-Type": "application/json"],
            body: HTTPResponseBody(try encoder.encode(value)))
    }

    /// Returns a `200 OK` response with bytes. Default: no bytes.
    public static func ok(_ request: HTTPRequest, body: Data = Data()) -> HTTPResponse {
        HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(body))
    }
}
