#if os(Linux)
    import Foundation

    extension CurlTransfer {
        /// Makes a response of what has arrived: all of a buffered one, the head of a streamed one.
        func response() throws(HTTPError) -> HTTPResponse {
            do throws(TransportFailure) {
                return try parsed()
            } catch {
                cancel()
                // The status counts although the body cannot be read: the body of a redirect does not matter.
                var failure = error
                failure.head = reply.head
                throw failure.error(for: request.value)
            }
        }

        private func parsed() throws(TransportFailure) -> HTTPResponse {
            var head = try ResponseHead(reply.head)
            if !reply.trailers.isEmpty { facts.trailers = try ResponseHead.trailers(reply.trailers) }
            let length = head.bodyLength(of: plan.method)
            var decoder: ContentDecoder?
            if let ratio = plan.decodingRatio, length != 0 {
                decoder = try ContentDecoder(head.headers, maximumRatio: ratio)
            }
            if decoder != nil { ContentDecoder.clean(&head.headers) }
            let body =
                try pipe == nil
                ? HTTPResponseBody(decoder?.decode(reply.body, upTo: limit) ?? reply.body)
                : streamedBody(of: request.value, length, decoder)
            var response = HTTPResponse(answering: request, status: head.status, headers: head.headers, body: body)
            response[option: TransportFactsValue.self] = facts
            return response
        }

        private func streamedBody(
            of request: HTTPRequest, _ length: Int?, _ decoder: ContentDecoder?
        ) -> HTTPResponseBody {
            let source: @Sendable () async throws -> Data? = { try await self.read() }
            let pull = decoder?.pull(source) ?? source
            let total = decoder == nil ? length : nil
            let meter = request.onProgress.map { ProgressMeter(.download, total: total, report: $0) }
            return HTTPResponseBody(
                length: total,
                // Without a list of what it captures: with one, it would not run where its reader does.
                pull: {
                    do {
                        let bytes = try await pull()
                        meter?.add(bytes?.count ?? 0)
                        return bytes
                    } catch let failure as TransportFailure {
                        throw failure.error(for: request)
                    }
                },
                cancel: { [self] in cancel() })
        }
    }
#endif
