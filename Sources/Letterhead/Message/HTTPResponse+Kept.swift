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

    /// The response, with the beginning of its body in memory where it is a stream, so that it holds no connection.
    func withoutStream() async -> HTTPResponse { body.buffered == nil ? await keptInMemory() : self }
}

extension HTTPResponseBody {
    /// The first bytes, as far as they can be had: a body that breaks off does not hide the status.
    fileprivate func beginning(upTo limit: Int) async -> Data {
        // A copy of the beginning, because a slice would keep the whole.
        if let buffered { return buffered.count > limit ? Data(buffered.prefix(limit)) : buffered }
        var bytes = GrowingBytes()
        var chunks = makeAsyncIterator()
        while bytes.count < limit, let chunk = try? await chunks.next(), bytes.append(chunk.prefix(limit - bytes.count))
        {}
        return bytes.take()
    }
}
