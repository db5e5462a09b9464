// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadSigning

extension Benchmark {
    /// A signature for each request, beside the same chain without one.
    static let signing: [Benchmark] = {
        let transport = Silent()
        var request = HTTPRequest()
        (request.host, request.path) = ("letters.s3.eu-central-1.amazonaws.com", "/letters/ada.txt")
        let sent = request
        let origins = URL(string: "https://letters.s3.eu-central-1.amazonaws.com").map { [$0] }
        let credentials = AWSCredentials(accessKey: "AKIDEXAMPLE", secretKey: "secret")
        let signer = AWSSigner(service: "s3", region: "eu-central-1", credentials: .fixed(credentials))
        let signed = Authenticate(.signing(by: signer, allowedOrigins: origins)) --> transport
        return [
            Benchmark(
                "a small GET, signed for AWS", floor: { try await transport.load(sent) },
                measured: { try await signed.load(sent) }, limits: .more(nanoseconds: 25_000), .allocations(170),
                areSame: { $0.status == $1.status && $1.request.headers.count == $0.request.headers.count + 3 })
        ]
    }()
}

private struct Silent: HTTPLoader {
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        HTTPResponse(request: request, status: .ok)
    }
}
