// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadRecording
    import LetterheadStreaming
    import LetterheadTransfers
    import Synchronization

    /// The endpoint that each case calls.
    struct ItemTemplate: RequestTemplate {
        var method: HTTPMethod
        var path: RequestPath = "item"
        var baseURL: URL?
        var body: any HTTPBody
    }

    /// The same endpoint, with a decoded response.
    private protocol DecodedTemplate: RequestTemplate { var base: ItemTemplate { get } }

    extension DecodedTemplate {
        var method: HTTPMethod { base.method }
        var path: RequestPath { base.path }
        var baseURL: URL? { base.baseURL }
        var body: any HTTPBody { base.body }
    }

    private struct ItemsTemplate: DecodedTemplate {
        typealias Response = [Item]
        let base: ItemTemplate
    }

    private struct PageTemplate: DecodedTemplate {
        typealias Response = Page
        let base: ItemTemplate
    }

    /// The failure of a stream in the form of OpenAI.
    private struct Busy: Decodable, Sendable {
        struct Reason: Decodable, Sendable { var message: String }
        var error: Reason
    }

    /// What a caller got.
    enum Outcome: Sendable, CustomStringConvertible {
        /// The bytes or the elements that were delivered, and the status of the response if it is known.
        case value(Received, status: Int?)
        /// An `HTTPError`, without its request and its response, which hold resources of the client.
        case failure(HTTPError.Code, status: Int?, text: String)
        /// A `CancellationError`.
        case cancelled
        case other(String)

        enum Received: Sendable, Equatable {
            case bytes(Data), items([Item]), lines([String]), events([Int])
            /// The reader has left before the end.
            case part
            case upload
        }

        var description: String {
            switch self {
            case .value(let received, let status):
                switch received {
                case .bytes(let data): "\(data.count) bytes, status \(status ?? 0)"
                case .items(let items): "\(items.count) items"
                case .lines(let lines): "\(lines.count) lines"
                case .events(let events): "events \(events)"
                case .part: "a part"
                case .upload: "an upload, status \(status ?? 0)"
                }
            case .failure(_, _, let text): text
            case .cancelled: "CancellationError"
            case .other(let text): "another error: \(text)"
            }
        }

        init(_ error: any Error) {
            switch error {
            case let error as HTTPError:
                self = .failure(error.code, status: error.response?.status.code, text: "\(error)")
            case is CancellationError: self = .cancelled
            default: self = .other("\(type(of: error)): \(error)")
            }
        }
    }

    /// One call of a case.
    struct Call: Sendable {
        /// How often a download that resumes continues.
        static let mostContinuations = 3
        let number: Int
        let setup: Setup
        private var testCase: Case { setup.testCase }
        var file: URL { setup.folder.appending(path: "download-\(number)") }

        func outcome() async -> Outcome {
            do { return try await received() } catch {
                let folder = setup.folder.appending(path: "flight-\(number)")
                let flight = Result { try Data(contentsOf: setup.parts.archive.dump(around: error, to: folder)) }
                try? FileManager.default.removeItem(at: folder)
                setup.parts.flights.value.withLock { $0[number] = flight }
                let count = (error as? HTTPError)?.response?.body.buffered?.count ?? 0
                if testCase[.limit] == "small", count > 10_000 { return .other("an error with \(count) bytes") }
                return Outcome(error)
            }
        }

        // MARK: The request

        private var endpoint: ItemTemplate {
            let absolute = URL(string: setup.scene.url(.api, "/api/"))
            return ItemTemplate(
                method: HTTPMethod(testCase[.method]),
                path: testCase[.authentication] == "path" || testCase[.observers] == "secret"
                    ? "\(secret: "item")" : "item",
                baseURL: testCase[.environment] == "absolute" ? absolute : nil,
                body: testCase[.order] == "nested" || testCase.isUpload ? EmptyBody() : body)
        }

        private var body: any HTTPBody { Bodies.make(testCase, in: setup.folder) }

        var template: AnyTemplate<HTTPResponse> { modified(AnyTemplate(endpoint)) }

        private func modified<Response>(_ base: AnyTemplate<Response>) -> AnyTemplate<Response> {
            var modifiers = modifiers(Response.self)
            switch testCase[.order] {
            case "outer": modifiers.reverse()
            case "nested": modifiers = Array(modifiers[(modifiers.count / 2)...] + modifiers[..<(modifiers.count / 2)])
            default: break
            }
            return modifiers.reduce(base) { $1($0) }
        }

        private func modifiers<Response>(
            _ response: Response.Type
        ) -> [(AnyTemplate<Response>) -> AnyTemplate<Response>] {
            var modifiers: [(AnyTemplate<Response>) -> AnyTemplate<Response>] = []
            func add(_ condition: Bool = true, _ modifier: @escaping (AnyTemplate<Response>) -> AnyTemplate<Response>) {
                if condition { modifiers.append(modifier) }
            }
            add { AnyTemplate($0.header("X-Call", "\(number)")) }
            // The calls are one operation.
            add(testCase.is(.observers, "all", "secret")) { AnyTemplate($0.header("X-Correlation-ID", "operation")) }
            add(testCase.is(.environment, "template") || testCase[.environment] == "derived" && testCase.isOverChain) {
                AnyTemplate($0.environment(Setup.environment(setup.scene)))
            }
            add(testCase.is(.retry, "twice", "idempotent")) { AnyTemplate($0.retry(.immediate, maximumRetries: 2)) }
            add(testCase.is(.retry, "idempotent")) { AnyTemplate($0.idempotent()) }
            add(testCase.is(.retry, "refusals")) {
                AnyTemplate($0.retry(.immediate.retryingRefusals(), maximumRetries: 2))
            }
            add(testCase.isUploadAway && testCase[.authentication] == "none") {
                AnyTemplate($0.authenticated(by: .bearer("template")))
            }
            add(testCase[.redirects] != "safely") { AnyTemplate($0.redirects(redirects)) }
            add(testCase.is(.limit, "small")) { AnyTemplate($0.responseLimit(10_000)) }
            add(testCase.is(.ending, "deadline")) { AnyTemplate($0.deadline(in: .milliseconds(60))) }
            func setting(_ body: some HTTPBody, in template: AnyTemplate<Response>) -> AnyTemplate<Response> {
                AnyTemplate(template.body(body))
            }
            add(testCase[.order] == "nested" && testCase[.body] != "none" && !testCase.isUpload) {
                setting(body, in: $0)
            }
            add(testCase.is(.progress, "closure") || testCase[.authentication] == "chunks") {
                [progress = setup.parts.progress[number - 1]] template in
                AnyTemplate(template.onProgress { update in progress.value.withLock { $0.append(update) } })
            }
            return modifiers
        }

        private var redirects: RedirectPolicy {
            switch testCase[.redirects] {
            case "never": .never
            case "same": .sameOrigin
            case "keeping": .keepingOriginal
            case "one": .safely.limit(1)
            case "custom": .custom { proposal, _ in proposal }
            default: .safely
            }
        }

        // MARK: The delivery

        private func received() async throws -> Outcome {
            #if Foundation
                if testCase.isOverSession { return try await receivedBySession() }
            #endif
            switch testCase[.delivery] {
            case "stream":
                let response = try await response(.streamed)
                return try await collect(response.body, response) { .bytes($0.reduce(into: Data()) { $0 += $1 }) }
            case "lines":
                let response = try await response(.streamed)
                return try await collect(response.body.lines, response) { .lines($0) }
            case "download": return saved(try await response(.file(file)))
            case "folder":
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
                let saved = try await setup.client.download(template, into: file)
                guard saved.deletingLastPathComponent().path == file.path else { return .other("saved as \(saved)") }
                return .value(.bytes((try? Data(contentsOf: saved)) ?? Data("unreadable".utf8)), status: nil)
            case "resumed":
                let policy = Backoff(.immediate, maximumRetries: Self.mostContinuations)
                return saved(
                    try await setup.client.download(template, to: file, resuming: .fromPart, continuing: policy))
            case "uploaded", "uploaded-away", "uploaded-draft": return try await uploaded()
            case "events" where testCase.isOverChain || testCase[.entry] == "request":
                let response = try await response(.streamed)
                return try await collect(response.events(), response) { .events(numbers($0)) }
            case "events":
                return try await collect(setup.client.events(of: template), nil) { .events(numbers($0)) }
            case "decoded":
                let end = testCase[.method] == "HEAD" ? nil : "[DONE]"
                let items = setup.client.events(of: template, as: Item.self, endingWith: end)
                return try await collect(items, nil) { .items($0) }
            case "failing":
                let items = setup.client.events(of: template.failure(as: Busy.self), as: Item.self)
                return try await collect(items, nil) { .items($0) }
            case "followed":
                let items = setup.client.values(
                    of: template, as: Item.self,
                    reconnecting: .whenClosed(Backoff(.immediate, maximumRetries: 4)), restarting: { _ in nil })
                return try await collect(items, nil) { .items($0) }
            case "parts" where testCase[.method] == "HEAD":
                let response = try await setup.client.send(template)
                return .value(.bytes(try await response.body.data()), status: response.status.code)
            case "parts":
                var items: [Item] = []
                for try await part in setup.client.parts(of: template) {
                    items.append(try await part.decode(Item.self))
                    if testCase[.ending] == "drop" { return .value(.part, status: nil) }
                }
                return .value(.items(items), status: nil)
            case "reconnecting":
                let policy = Reconnection.whenClosed(Backoff(.immediate, maximumRetries: 4))
                let events = setup.client.events(of: template, reconnecting: policy)
                return try await collect(events, nil) { .events(numbers($0)) }
            case "values" where testCase.isOverChain || testCase[.entry] == "request":
                let response = try await response(.streamed)
                return try await collect(response.values(as: Item.self), response) { .items($0) }
            case "values":
                return try await collect(setup.client.values(of: template, as: Item.self), nil) { .items($0) }
            case "pages":
                let pages = modified(AnyTemplate(PageTemplate(base: endpoint))).paginated(by: .nextURL(\.next))
                return try await collect(setup.client.items(of: pages, at: \.items), nil) { .items($0) }
            case "links":
                let pages = modified(AnyTemplate(ItemsTemplate(base: endpoint))).paginated(by: .linkHeader)
                return try await collect(setup.client.items(of: pages), nil) { .items($0) }
            default: return try await buffered()
            }
        }

        private func uploaded() async throws -> Outcome {
            let content = body
            if let data = try? content.encode() { setup.parts.contents.value.withLock { $0.append(data) } }
            var settings = UploadSettings()
            // A second call continues what the first one has left.
            settings.key = testCase[.concurrency] == "both" ? "\(number)" : "item"
            settings.checksChunks = testCase.isUploadDraft
            settings.chunkSize = testCase[.limit] == "small" ? 900 : nil
            let response = try await setup.client.upload(
                template, from: content, resuming: UploadStore(in: setup.folder.appending(path: "uploads")), settings,
                continuing: Backoff(.immediate, maximumRetries: 3))
            return .value(.upload, status: response.status.code)
        }

        private func buffered() async throws -> Outcome {
            guard testCase[.method] != "HEAD", ["template", "chain", "builder"].contains(testCase[.entry]) else {
                let response = try await response(.buffered)
                return .value(.bytes(try await response.body.data()), status: response.status.code)
            }
            let decoded = modified(AnyTemplate(ItemsTemplate(base: endpoint)))
            let result =
                switch testCase[.entry] {
                case "builder":
                    try await SendableRequest(StandardRequestBuilder(decoded), over: setup.chain).sendWithResponse()
                case "chain": try await SendableRequest(decoded, over: setup.chain).sendWithResponse()
                default: try await setup.client.sendWithResponse(decoded)
                }
            return .value(.items(result.value), status: result.response.status.code)
        }

        private func response(_ delivery: HTTPResponse.Delivery) async throws -> HTTPResponse {
            let template = self.template.responseDelivery(delivery)
            switch testCase[.entry] {
            case "request": return try await setup.client.send(try StandardRequestBuilder(template).request())
            case "builder":
                return try await SendableRequest(StandardRequestBuilder(template), over: setup.chain).response()
            case "chain": return try await SendableRequest(template, over: setup.chain).response()
            case "handle":
                let request = try StandardRequestBuilder(template).request()
                let task = Mutexed<Task<Void, Never>?>(nil)
                let response = try await withTaskCancellationHandler {
                    try await withCheckedThrowingContinuation { continuation in
                        let started = setup.chain.start(request) { continuation.resume(with: $0) }
                        task.value.withLock { $0 = started }
                        if Task.isCancelled { started.cancel() }
                    }
                } onCancel: {
                    task.value.withLock { $0 }?.cancel()
                }
                // `start` leaves the judgement of the status to its caller.
                if response.status.isSuccess { return response }
                _ = try? await response.body.data()
                throw HTTPError(.unacceptableStatus, request: response.request, response: response)
            default: return try await setup.client.send(template)
            }
        }

        private func saved(_ response: HTTPResponse) -> Outcome {
            guard let saved = response.savedFile else { return .value(.bytes(Data()), status: response.status.code) }
            return .value(
                .bytes((try? Data(contentsOf: saved)) ?? Data("unreadable".utf8)), status: response.status.code)
        }

        private func numbers(_ events: [ServerSentEvent]) -> [Int] { events.compactMap { Int($0.id ?? "") } }

        func collect<Elements: AsyncSequence>(
            _ elements: Elements, _ response: HTTPResponse?, _ received: ([Elements.Element]) -> Outcome.Received
        ) async throws -> Outcome {
            var all: [Elements.Element] = []
            for try await element in elements {
                all.append(element)
                if testCase[.ending] == "drop" { return .value(.part, status: response?.status.code) }
            }
            return .value(received(all), status: response?.status.code)
        }
    }

    /// A mutex that closures may share.
    final class Mutexed<Value: Sendable>: Sendable {
        let value: Mutex<Value>

        init(_ value: sending Value) { self.value = Mutex(value) }
    }

    enum Bodies {
        static let text = (1...60).map { "line \($0) of the body of the request" }.joined(separator: "\n")
        private static let pieces = [text.prefix(500), text.dropFirst(500)].map { Data($0.utf8) }

        private static var stream: AsyncStream<Data> {
            AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
        }

        /// Each call makes its own.
        static func make(_ testCase: Case, in folder: URL) -> any HTTPBody {
            // What is in memory isn't sent in chunks, and what is streamed needs its length.
            let isChunked = testCase[.authentication] == "chunks"
            let length = isChunked ? text.utf8.count : nil
            switch testCase[.body] {
            case "text" where isChunked, "file": return FileBody(at: folder.appending(path: "body"))
            case "text": return TextBody(text)
            case "json": return JSONBody(Dictionary(uniqueKeysWithValues: (1...20).map { ("key \($0)", $0) }))
            case "form": return FormBody(["name": "ada lovelace", "text": text])
            case "multipart":
                return MultipartBody([
                    .text(text, name: "text"), .data(Data("file".utf8), name: "file", filename: "a.txt"),
                ])
            case "stream": return StreamBody(length: length, contentType: "text/plain") { stream }
            case "once": return StreamBody(once: stream, length: length, contentType: "text/plain")
            case "compressed": return TextBody(text).compressed()
            default: return EmptyBody()
            }
        }
    }
#endif
