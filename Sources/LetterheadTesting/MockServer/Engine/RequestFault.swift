/// Why the bytes of a client are no request, and the status that says so.
struct RequestFault: Error, CustomStringConvertible {
    let status: Int
    let description: String

    static func malformed(_ text: String) -> RequestFault { RequestFault(status: 400, description: text) }
    static func unsupported(_ text: String) -> RequestFault { RequestFault(status: 501, description: text) }
    static let headTooLarge = RequestFault(status: 431, description: "the head is larger than the server allows")
}
