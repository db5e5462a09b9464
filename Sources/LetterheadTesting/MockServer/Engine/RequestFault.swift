// SPDX-License-Identifier: MIT
/// The reason that received bytes are not a valid request, and the status for the response.
struct RequestFault: Error, CustomStringConvertible {
    let status: Int
    let description: String

    static func malformed(_ text: String) -> RequestFault { RequestFault(status: 400, description: text) }
    static func unsupported(_ text: String) -> RequestFault { RequestFault(status: 501, description: text) }
    static let headTooLarge = RequestFault(status: 431, description: "the head is larger than the server allows")
}
