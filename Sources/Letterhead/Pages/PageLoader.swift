/// Loads one page and counts its items.
struct PageLoader<Template: PaginatedTemplate>: Sendable {
    /// The client, in the generation in which the iteration began.
    let client: HTTPClient
    let itemCount: @Sendable (Template.Response) -> Int?
    /// The deadline of the whole page sequence.
    var deadline: DeadlinePoint?

    /// Loads a page after a delay.
    func load(
        _ template: Template, after delay: Duration, on clock: any Clock<Duration>
    ) async throws -> Page<Template.Response> {
        if let deadline, deadline.timeLeft <= delay {
            throw HTTPError(
                .timedOut, request: try client.sendable(template).adoptedRequest(),
                message: "the deadline of the page sequence passes before the page can be requested",
                mayHaveBeenSent: false)
        }
        if delay > .zero { try await client.generation.pause(for: delay, on: clock) }
        let (value, response) = try await send(template)
        return Page(value, itemCount: itemCount(value), response: response, number: template.page)
    }

    private func send(_ template: Template) async throws -> (value: Template.Response, response: HTTPResponse) {
        var request = client.sendable(template)
        request.deadline = deadline
        return try await request.sendWithResponse()
    }
}

/// A page that is loaded in advance. This type is a class so that releasing it cancels the load.
final class PagePrefetch<Template: PaginatedTemplate>: Sendable {
    private let task: Task<Page<Template.Response>, any Error>

    init(_ template: Template, loader: PageLoader<Template>, walk: PageWalk) {
        task = Task { try await loader.load(template, after: walk.delay, on: walk.clock) }
    }

    deinit { task.cancel() }

    /// Whether the load was cancelled, so that its result must not be used.
    var isCancelled: Bool { task.isCancelled }

    /// Waits for the page. Cancelling the wait cancels the load.
    func value() async throws -> Page<Template.Response> {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
