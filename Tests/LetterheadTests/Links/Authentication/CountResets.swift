// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// Passes everything on, and counts how often it is reset.
final class CountResets: LoaderLink {
    private let resets = Atomic(0)

    var count: Int { resets.load(ordering: .sequentiallyConsistent) }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
    }

    func reset(next: any HTTPLoader) async {
        resets.add(1, ordering: .sequentiallyConsistent)
        await next.reset()
    }
}
