// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

/// A situation for a load, to check the events that the load has.
struct ObserverScene: Sendable {
    let name: String
    /// Responds to the exchange with this number, starting at 1.
    private let respond: @Sendable (Int, HTTPRequest) async throws -> HTTPResponse
    private var send: @Sendable (HTTPClient, HTTPRequest) async throws -> Void = { _ = try await $0.send($1) }

    /// Returns the events of a load with a client that contains the link above or below the attempts.
    func events(of link: any LoaderLink, isAbove: Bool) async -> [HTTPEvent] {
        let recorder = EventRecorder()
        let count = Atomic(0)
        let transport = AnyLoader { [respond] request in
            try await respond(count.add(1, ordering: .relaxed).newValue, request)
        }
        let client = HTTPClient(
            retrying: Retry.Settings(maximumRetries: 2, strategy: .immediate), links: isAbove ? link : nil,
            attemptLinks: isAbove ? nil : link, observers: [recorder], transport: transport)
        let request = HTTPRequest(url: URL(string: "https://laws.example/1") ?? URL(filePath: "/1"))
        try? await send(client, request)
        // The load of a dropped body may end a moment later.
        let ends: Set = [HTTPEvent.Name.loadEnd, .loadFailed, .loadCancelled]
        for _ in 0..<500 where ends.isDisjoint(with: recorder.names) { try? await Task.sleep(for: .milliseconds(2)) }
        return recorder.events
    }

    static let all: [ObserverScene] = [
        ObserverScene(name: "succeeds", respond: { _, request in ok(request) }),
        ObserverScene(
            name: "fails",
            respond: { _, request in throw HTTPError(.invalidResponse, request: request, message: "no HTTP") }),
        ObserverScene(
            name: "is retried",
            respond: { number, request in
                number < 3 ? HTTPResponse(request: request, status: .serviceUnavailable) : ok(request)
            }),
        ObserverScene(
            name: "is redirected",
            respond: { number, request in
                guard number < 3 else { return ok(request) }
                return HTTPResponse(request: request, status: .found, headers: [.location: "/\(number + 1)"])
            }),
        ObserverScene(
            name: "is streamed", respond: { _, request in streamed(request) },
            send: { client, request in for try await _ in try await client.stream(request).body {} }),
        ObserverScene(
            name: "is streamed and dropped", respond: { _, request in streamed(request) },
            send: { client, request in _ = try await client.stream(request).status }),
        ObserverScene(
            name: "is cancelled",
            respond: { _, request in
                // The task runs the closure.
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                throw HTTPError(.cancelled, request: request)
            },
            send: { client, request in _ = try await Task { try await client.send(request) }.value }),
    ]

    private static func ok(_ request: HTTPRequest) -> HTTPResponse {
        HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(Data("law".utf8)))
    }

    private static func streamed(_ request: HTTPRequest) -> HTTPResponse {
        let count = Atomic(0)
        let body = HTTPResponseBody(length: nil) {
            count.add(1, ordering: .relaxed).newValue <= 3 ? Data("law".utf8) : nil
        }
        return HTTPResponse(request: request, status: .ok, body: body)
    }
}
