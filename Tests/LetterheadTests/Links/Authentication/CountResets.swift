// SPDX-License-Identifier: MIT
import Letterhead
import TestKit

/// Passes everything on, and counts how often it is reset.
struct CountResets: LoaderLink {
    private let resets = Counter()

    var count: Int { resets.value }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
    }

    func reset(next: any HTTPLoader) async {
        resets.next()
        await next.reset()
    }
}
