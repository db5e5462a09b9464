import Foundation

/// How much of an unwelcome response's body an error keeps.
private let keptBytes = 1 << 20

extension HTTPResponse {
    /// The response as an error carries it: its body in memory, and at most 1 MiB of it.
    func keptInMemory() async -> HTTPResponse {
        var response = self
        response.body = HTTPResponseBody(await body.beginning(upTo: keptBytes))
        return response
    }
}

extension HTTPResponseBody {
    /// The first bytes, as far as they can be had: a body that breaks off does not hide the status.
    fileprivate func beginning(upTo limit: Int) async -> Data {
        if let buffered { return buffered.prefix(limit) }
        var data = Data()
        var chunks = makeAsyncIterator()
        while data.count < limit, let chunk = try? await chunks.next() { data += chunk }
        return data.prefix(limit)
    }
}
