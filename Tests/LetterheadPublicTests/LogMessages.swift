// SPDX-License-Identifier: MIT
import Letterhead

/// A link that writes each request and each result to a log, as `PrintLoader` does, with the number of the attempt and
/// the metrics of the response.
struct LogMessages: LoaderLink {
    let write: @Sendable (String) -> Void

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let redaction = request.redaction
        let line = "attempt \(request.attemptNumber ?? 1): \(redaction.requestLine(of: request))"
        write(Self.text(line, request.headers, redaction.body(of: request), redaction))
        do throws(HTTPError) {
            let response = try await next.load(request)
            write(Self.text("\(response.status)", response.headers, redaction.body(of: response), redaction))
            var head = response
            head.body = HTTPResponseBody()
            response.body.onEnd { [self, head] _ in writeEnd(of: head) }
            return response
        } catch {
            write("\(error)")
            throw error
        }
    }

    /// Writes what is known only after the body.
    private func writeEnd(of response: HTTPResponse) {
        let trailers = response.trailers.map { response.request.redaction.text(of: $0) }
        write((["received \(response.metrics.bytesReceived) bytes"] + trailers).joined(separator: "\n"))
    }

    private static func text(_ line: String, _ headers: HTTPHeaders, _ body: String, _ redaction: Redaction) -> String {
        ([line] + headers.map { redaction.text(of: $0) } + (body.isEmpty ? [] : [body])).joined(separator: "\n")
    }
}
