// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

/// A request that a ``StubLoader`` has received.
///
/// ```swift
/// let call = try #require(stubs.calls(of: CreateUser.self).first)
/// #expect(call.template.user.login == "ada")
/// #expect(call.request.headers["X-Trace"] == "1")
/// #expect(try await call.body(as: User.self).login == "ada")
/// #expect(call.response?.status == .created)
/// ```
///
/// A call is a snapshot: its response does not appear in a value that was read earlier.
public struct StubCall<Template: Sendable>: Sendable {
    /// The template that was sent, without its decorators.
    public let template: Template
    /// The sent request, after all links have changed it.
    public var request: HTTPRequest { input.request }
    /// The call's position among all the loader's calls, starting at 1. Use it to check which endpoint was called
    /// first.
    public let number: Int
    /// When the call arrived on the loader's clock, counted from the loader's creation.
    public let time: Duration
    /// The response. It is nil while the call is in progress, and after an error. It doesn't contain a streamed body.
    public let response: HTTPResponse?
    /// The call's error. It is nil while the call is in progress, and after a response.
    public let error: HTTPError?
    let input: StubInput

    /// Returns the request body's bytes. A body that can be sent only once is read when the call arrives.
    ///
    /// - Throws: the body's error.
    public func body() async throws -> Data { try await input.allBytes() }

    /// Returns the decoded request body.
    ///
    /// - Parameters:
    ///   - type: the value's type.
    ///   - decoder: the decoder. Default: a plain `JSONDecoder`.
    /// - Throws: the body's or the decoder's error.
    public func body<Value: Decodable>(
        as type: Value.Type, decoder: any HTTPBodyDecoder = JSONDecoder()
    ) async throws -> Value {
        try decoder.decode(type, from: try await body())
    }
}

extension BodyChunks {
    /// Returns all bytes.
    func allBytes() async throws -> Data {
        if let data { return data }
        var bytes = Data()
        for try await chunk in self { bytes += chunk }
        return bytes
    }
}

/// A call in a loader's record.
struct StubRecord: Sendable {
    let input: StubInput
    let number: Int
    let time: Duration
    /// What the answering stub was declared for, or nil if no stub answered.
    let subject: Stub.Subject?
    var response: HTTPResponse?
    var error: HTTPError?

    func call<Template: Sendable>(_ template: Template) -> StubCall<Template> {
        StubCall(template: template, number: number, time: time, response: response, error: error, input: input)
    }
}
