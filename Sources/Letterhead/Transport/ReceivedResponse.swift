import Foundation

/// What a transfer has received, unparsed: the caller parses it, so that the thread of all transfers need not.
struct ReceivedResponse: ~Copyable {
    var head: [UInt8] = []
    var trailers: [UInt8] = []
    /// Empty for a streamed response.
    var body = GrowingBytes()

    /// Parses what has arrived. It changes nothing: the head of a streamed response is also read by the thread that receives
    /// its body.
    ///
    /// - Parameters:
    ///   - received: the body that has arrived; empty for a streamed response.
    ///   - decodingRatio: how many times larger than its encoded bytes the body may be; nil leaves it encoded.
    ///   - limit: how many bytes the decoded body may have.
    ///   - streaming: creates a body that still arrives, of a length if it is known; nil for a body that has arrived.
    func response(
        to request: SharedRequest, with received: Data, facts: TransportFacts, decodingRatio: Int?, upTo limit: Int,
        streaming: ((_ length: Int?, ContentDecoder?) -> HTTPResponseBody)?
    ) throws(TransportFailure) -> HTTPResponse {
        var head = try ResponseHead(self.head)
        if !trailers.isEmpty { facts.trailers = try ResponseHead.trailers(trailers) }
        let length = head.bodyLength(of: request.value.method)
        var decoder: ContentDecoder?
        if let decodingRatio, length != 0 {
            decoder = try ContentDecoder(head.headers, maximumRatio: decodingRatio)
        }
        if decoder != nil { ContentDecoder.clean(&head.headers) }
        let body: HTTPResponseBody
        if let streaming {
            body = streaming(length, decoder)
        } else {
            body = HTTPResponseBody(try decoder?.decode(received, upTo: limit) ?? received)
        }
        var response = HTTPResponse(answering: request, status: head.status, headers: head.headers, body: body)
        response[option: TransportFactsValue.self] = facts
        return response
    }
}
