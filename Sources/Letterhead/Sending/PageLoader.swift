/// Loads one page and counts its items.
struct PageLoader<Template: PaginatedTemplate>: Sendable {
    let client: HTTPClient
    let itemCount: @Sendable (Template.Response) -> Int?

    func load(_ template: Template) async throws -> PageArrival<Template.Response> {
        let (value, response) = try await client.sendWithResponse(template)
        return PageArrival(value, itemCount: itemCount(value), response: response)
    }
}

/// A page that is asked for before it is wanted. A class, because dropping it must end the load.
final class PagePrefetch<Template: PaginatedTemplate>: Sendable {
    private let task: Task<PageArrival<Template.Response>, any Error>

    init(_ template: Template, loader: PageLoader<Template>, walk: PageWalk) {
        task = Task {
            if walk.delay > .zero { try await walk.clock.pause(for: walk.delay) }
            return try await loader.load(template)
        }
    }

    deinit { task.cancel() }

    /// Whether it was given up, so that its value is none.
    var isCancelled: Bool { task.isCancelled }

    /// Waits for the page; cancelling the wait cancels the load.
    func value() async throws -> PageArrival<Template.Response> {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
