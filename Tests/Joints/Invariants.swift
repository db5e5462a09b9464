// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadObserving
    import LetterheadRecording
    import LetterheadTesting
    import LetterheadTransfers

    /// The rules that hold in every case, whatever its levels are. Each is computed from what the server saw, what the
    /// caller got and what observers received.
    struct Invariants {
        private let evidence: Evidence
        private let testCase: Case
        private(set) var faults: [Fault] = []

        init(_ evidence: Evidence) {
            (self.evidence, testCase) = (evidence, evidence.testCase)
            checkEnds()
            checkValues()
            if testCase.isUpload { checkUploads() } else { checkBodies() }
            checkMethods()
            checkReuse()
            checkOrigins()
            checkSignatures()
            checkCookies()
            checkEvents()
            checkRecords()
            checkProgress()
            checkRemains()
            if let expectation = Model(testCase).expectation { faults += expectation.faults(evidence) }
        }

        private mutating func note(_ rule: String, _ detail: String) {
            if !faults.contains(where: { $0.rule == rule }) { faults.append(Fault(rule: rule, detail: detail)) }
        }

        private var requests: [Seen] { evidence.seen.filter(\.isOfCall) }

        private var calls: [[Seen]] { Dictionary(grouping: requests, by: \.call).values.map { $0 } }

        // MARK: What the caller got

        private mutating func checkEnds() {
            for outcome in evidence.outcomes {
                switch outcome {
                case .other(let text): note("ends", "the caller got another error: \(text)")
                case .cancelled where !testCase.is(.ending, "cancel", "cancel-body"):
                    note("ends", "a CancellationError without a cancellation")
                case .failure(.unknown, _, let text): note("ends", text)
                case .failure(.cancelled, _, let text) where testCase.is(.ending, "complete", "drop"):
                    note("ends", "cancelled by nobody: \(text)")
                default: break
                }
            }
            // What the server has signed isn't refused, whatever its way and its age in a cache are.
            let isUnread = testCase[.delivery] == "resumed" || testCase.hasUnverifiedPage
            for outcome in evidence.outcomes where outcome.has(.validationFailed) && !isUnread {
                note("verified", "\(outcome)")
            }
            // What is held back by the server must have ended as the case says.
            let isHeld =
                requests.contains { !testCase.isUpload || $0.isChunk } && !testCase.isHedged
                && testCase[.concurrency] != "both" && testCase[.plan] != "early"
            if isHeld, testCase.is(.ending, "cancel", "reset"), let first = evidence.outcomes.first, !first.isCancelled
            {
                note("ending", "after \(testCase[.ending]), the caller got \(first)")
            }
            if isHeld, testCase.is(.ending, "deadline"), let first = evidence.outcomes.first, !first.has(.timedOut) {
                note("ending", "after the deadline, the caller got \(first)")
            }
            guard case .value(.bytes(let data), 200) = evidence.plain, data == Data("plain".utf8) else {
                return note("afterwards", "a plain request got \(evidence.plain)")
            }
        }

        private mutating func checkValues() {
            for outcome in evidence.outcomes {
                guard case .value(let received, let status) = outcome, received != .upload else { continue }
                if let status, status != 200, !(status == 204 && testCase[.delivery] == "reconnecting") {
                    note("value", "the caller got a value with status \(status)")
                }
                if received == .part { continue }
                let isHead = testCase[.method] == "HEAD"
                let bytes = isHead ? Data() : Data(Content.bytes(for: testCase))
                let expected: Outcome.Received =
                    switch received {
                    case .bytes: .bytes(bytes)
                    case .items: .items(isHead ? [] : Content.items)
                    case .lines: .lines(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
                    case .events, .part, .upload: .events(isHead ? [] : events)
                    }
                if received != expected { note("value", "the caller got \(outcome)") }
            }
        }

        /// What is fresh in a cache is not requested.
        private mutating func checkReuse() {
            let isReused =
                testCase.is(.cache, "fresh", "files") && testCase.is(.authentication, "none", "basic", "bearer", "key")
                && testCase.is(.delivery, "buffered", "lines", "stream") && testCase[.method] == "GET"
                && testCase[.body] == "none" && testCase[.plan] == "ok" && testCase[.ending] == "complete"
            if isReused, testCase[.concurrency] == "again", requests.contains(where: { $0.call == "2" }) {
                note("reuse", "a fresh response was requested again")
            }
        }

        /// The events that a reader must receive, each once.
        private var events: [Int] {
            guard testCase[.delivery] == "reconnecting" else { return Content.events }
            let isRepeatable = testCase.isIdempotent && testCase[.body] != "once"
            return isRepeatable ? Content.events : Array(Content.events.prefix(Content.batch))
        }

        // MARK: What the server saw

        private mutating func checkBodies() {
            for call in calls {
                var bodies: [Data] = []
                for seen in call {
                    let framing = seen.values("content-length").count + seen.values("transfer-encoding").count
                    if framing > 1 { note("framing", "\(seen.method) has \(framing) lengths") }
                    guard let body = seen.body else { continue }
                    let mayBeEmpty = testCase[.body] == "none" || seen.target.contains("hop=1") && seen.method == "GET"
                    if body.isEmpty {
                        if !mayBeEmpty { note("body", "\(seen.method) \(seen.target) came without its body") }
                        continue
                    }
                    if framing != 1 { note("framing", "\(seen.method) has \(framing) lengths") }
                    bodies.append(body)
                    if !isRight(body, of: seen) { note("body", "\(seen.method) came with another body") }
                }
                if Set(bodies).count > 1 { note("body", "the body has other bytes in another attempt") }
                if testCase[.body] == "once", testCase.isDirect, bodies.count > 1 {
                    note("once", "a one-shot body was sent \(bodies.count) times")
                }
                let processed = call.filter { ["POST", "PATCH"].contains($0.method) && $0.isProcessed }
                let repeated =
                    Dictionary(grouping: processed) { $0.target.contains("page=2") }.values.map(\.count).max() ?? 0
                if repeated > 1, testCase[.retry] != "idempotent" {
                    note("twice", "\(testCase[.method]) was processed \(repeated) times")
                }
            }
        }

        private func isRight(_ body: Data, of seen: Seen) -> Bool {
            switch testCase[.body] {
            case "none": false
            case "json": (try? JSONDecoder().decode([String: Int].self, from: body))?.count == 20
            case "form": body.starts(with: Data("name=ada".utf8)) && (seen["content-type"] ?? "").contains("form")
            case "multipart":
                String(decoding: body, as: UTF8.self).contains(Bodies.text)
                    && (seen["content-type"] ?? "").hasPrefix("multipart/form-data; boundary=")
            case "compressed": seen["content-encoding"] == "gzip" && body.starts(with: [0x1F, 0x8B])
            default: body == Data(Bodies.text.utf8)
            }
        }

        /// A server never has an upload with other bytes, and a success is one complete upload.
        private mutating func checkUploads() {
            let (uploads, contents) = (evidence.uploads, evidence.contents)
            for bytes in uploads.complete where !contents.contains(bytes) {
                note("upload", "the server has \(bytes.count) other bytes")
            }
            var count = 0
            for case .value(_, let status) in evidence.outcomes {
                count += 1
                if ![200, 201, 204].contains(status) { note("value", "an upload ended with status \(status ?? 0)") }
            }
            if uploads.complete.count < count {
                note("upload", "\(count) uploads ended, \(uploads.complete.count) are complete")
            }
            // A hedge may create an upload twice, and one without bytes is then complete.
            if uploads.complete.count > evidence.outcomes.count, !testCase.isHedged {
                note("upload", "\(evidence.outcomes.count) uploads were sent \(uploads.complete.count) times")
            }
            // The second call continues what the first one has begun. A deadline may pass before its URL is known.
            let isContinued =
                testCase[.concurrency] == "again" && testCase[.ending] != "deadline" && evidence.outcomes.count == 2
                && !evidence.outcomes[0].isValue
                && evidence.outcomes[1].isValue && testCase[.body] != "multipart" && testCase[.plan] != "404"
            if isContinued, uploads.count > 1, !testCase.isHedged {
                note("upload", "\(uploads.count) uploads were created, although the first call's could be continued")
            }
            for outcome in evidence.outcomes where outcome.has(.uploadMismatch) || outcome.has(.uploadFileChanged) {
                note("upload", "\(outcome)")
            }
            // What a cancelled request has sent may arrive after the next call has asked for the offset.
            if uploads.wrongOffsets > 0, testCase.is(.ending, "complete", "drop") {
                note("upload", "\(uploads.wrongOffsets) chunks had a wrong offset")
            }
            for seen in requests where seen.values("content-length").count + seen.values("transfer-encoding").count > 1
            {
                note("framing", "\(seen.method) has several lengths")
            }
        }

        /// A redirect changes the method as RFC 9110, 15.4, says, and what changes something is done for each call.
        private mutating func checkMethods() {
            for call in calls where !testCase.isHedged {
                for (seen, hop) in zip(call, call.dropFirst()) where hop.target.contains("hop=1") {
                    guard let status = seen.status, [302, 303, 307].contains(status) else { continue }
                    let changes = status == 303 && seen.method != "HEAD" || status == 302 && seen.method == "POST"
                    let method = changes && testCase[.redirects] != "keeping" ? "GET" : seen.method
                    if hop.method != method { note("method", "\(hop.method) after \(seen.method) with \(status)") }
                }
            }
            let isSafe = testCase.is(.method, "GET", "HEAD", "QUERY")
            for (index, outcome) in evidence.outcomes.enumerated() where outcome.isValue && !isSafe {
                if !requests.contains(where: { $0.call == "\(index + 1)" }) { note("shared", "call \(index + 1)") }
            }
        }

        private mutating func checkOrigins() {
            for seen in evidence.seen {
                if let host = seen["host"], let url = evidence.urls[seen.site], url != "\(testCase.scheme)://\(host)" {
                    note("origin", "\(seen.site) received the field Host of another server: \(host)")
                }
                let cookies = seen.values("cookie").joined(separator: "; ")
                if seen.site == .other {
                    let isToken = seen.path == "token"
                    for name in ["authorization", "x-api-key", "x-signature", "x-tenant"] where seen[name] != nil {
                        if isToken, name == "authorization", testCase.is(.authentication, "oauth", "session") {
                            continue
                        }
                        // A `URLRequest` has the field of its environment as its own, and a redirect keeps it.
                        if name == "x-tenant", testCase.isOverSession, testCase[.environment] == "template" { continue }
                        note("origin", "\(seen.method) \(seen.path) at another origin received \(name)")
                    }
                    if cookies.contains("api=") { note("origin", "another origin received a cookie of the API") }
                } else {
                    if cookies.contains("other=") { note("origin", "the API received a cookie of another origin") }
                    if testCase[.environment] != "absolute", seen.path != "token", seen.values("x-tenant") != ["acme"] {
                        note("environment", "\(seen.method) \(seen.path) has X-Tenant \(seen.values("x-tenant"))")
                    }
                }
            }
        }

        private mutating func checkSignatures() {
            var used: Set<String> = []
            for seen in evidence.seen where testCase[.authentication] == "digest" && seen.site != .other {
                guard let value = seen["authorization"], let nonce = Scene.parameter("nonce", of: value),
                    let count = Scene.parameter("nc", of: value)
                else { continue }
                if !used.insert("\(nonce) \(count)").inserted { note("nonce", "the count \(count) was used twice") }
            }
            for seen in evidence.seen where testCase[.authentication] == "signing" && seen.site != .other {
                let parts = seen["x-signature"]?.split(separator: " ").map(String.init) ?? []
                guard parts.count == 4 else {
                    note("signature", "\(seen.method) \(seen.path) isn't signed")
                    continue
                }
                if !used.insert(parts[0]).inserted { note("signature", "the number \(parts[0]) was used twice") }
                guard let body = seen.body, parts[3] != "-" else { continue }
                if Data(SHA256Hash.hash(Array(body))).base64EncodedString() != parts[3] {
                    note("signature", "\(seen.method) \(seen.path) has another body than was signed")
                }
            }
            for seen in evidence.seen {
                guard let body = seen.body else { continue }
                let hash = SHA256Hash.hash(Array(body))
                let isRight =
                    seen["content-digest"] == "sha-256=:\(Data(hash).base64EncodedString()):" && !seen.isFramed
                if seen["content-digest"] != nil, !isRight { note("digest", "\(seen.method) has a wrong digest") }
                if let length = seen["x-amz-decoded-content-length"], length != "\(body.count)" {
                    note("digest", "\(seen.method) has \(body.count) bytes in its chunks instead of \(length)")
                }
                let text = hash.map { String(Int($0) | 0x100, radix: 16).dropFirst() }.joined()
                if let signed = seen["x-amz-content-sha256"], !seen.isFramed, signed != text {
                    note("digest", "\(seen.method) has another body than was signed")
                }
            }
            for call in calls where testCase.fetchesTokens && !testCase.isHedged {
                var refused: Set<String> = []
                for seen in call {
                    guard let token = seen["authorization"] else { continue }
                    if refused.contains(token) { note("refused", "\(token) was sent again after a 401") }
                    if seen.status == 401 { refused.insert(token) }
                }
            }
            for seen in evidence.seen {
                for name in ["authorization", "cookie", "idempotency-key"] where seen.values(name).count > 1 {
                    note("framing", "\(name) occurs \(seen.values(name).count) times")
                }
            }
            // What reconnects or continues sends a new load.
            let isOneLoad =
                !testCase.is(.delivery, "reconnecting", "followed", "pages", "links")
                && !testCase.is(.plan, "cut", "cut-twice", "cut-chunks")
            for call in calls where testCase[.retry] == "idempotent" && isOneLoad {
                let keys = Set(call.map { $0["idempotency-key"] ?? "none" })
                if keys.count > 1 || keys == ["none"] { note("key", "the attempts have the keys \(keys.sorted())") }
            }
        }

        private mutating func checkCookies() {
            guard testCase[.cookies] != "none" else { return }
            let isAlone =
                testCase[.concurrency] != "both" && !testCase.is(.plan, "stale", "early") && !testCase.isHedged
                && (testCase[.authentication] != "oauth-home" || testCase[.ending] == "reset") && !testCase.isUpload
            if testCase.is(.ending, "cancel", "reset", "reset-late"), isAlone, evidence.cookies.contains("api") {
                note("stored", "after \(testCase[.ending]), the jar has \(evidence.cookies)")
            }
            let isAnswered = requests.contains { $0.site != .other && [200, 204].contains($0.status) }
            if testCase[.ending] == "complete", isAnswered, case .value? = evidence.outcomes.first {
                let plain = evidence.seen.last { $0.path == "plain" }
                if plain?["cookie"]?.contains("api=1") != true { note("cookie", "the plain request has no cookie") }
                if testCase[.cookies] == "file", !evidence.files.contains("cookies") {
                    note("cookie", "no file has it")
                }
            }
        }

        // MARK: What observers received

        private mutating func checkEvents() {
            guard testCase[.observers] != "none" else { return }
            let events = evidence.events
            for violation in ObserverLaws.violations(of: events) {
                note(violation.law == "connections" ? "connections" : "events", "\(violation)")
            }
            func count(_ names: HTTPEvent.Name...) -> Int { events.count { names.contains($0.name) } }
            let exchanges = count(.exchangeStart)
            if exchanges != count(.exchangeEnd, .exchangeFailed) {
                note("events", "\(exchanges) exchanges start, and \(count(.exchangeEnd, .exchangeFailed)) end")
            }
            let texts = events.map { "\($0)" } + evidence.outcomes.map { "\($0)" }
            if testCase[.authentication] == "path", let text = texts.first(where: { $0.contains("/item") }) {
                note("secret", "the secret of the path is in \(text)")
            }
            let spans = requests.map { $0["traceparent"] ?? "none" }
            if testCase[.outer] == "trace", !testCase.isOverChain,
                // The transport itself sends a request again if a connection turns out to be stale.
                spans.contains("none") || Set(spans).count < spans.count && testCase[.plan] != "stale"
            {
                note("trace", "the requests have the spans \(spans)")
            }
            if count(.attemptStart) != count(.attemptEnd) { note("events", "an attempt does not end") }
            // An upload tells that it waits.
            let hasFailed = requests.contains { $0.isChunk && $0.status == 503 }
            let waits = events.count { $0[.isRetried] == true && $0[.reason] == "the upload continues" }
            if hasFailed, waits == 0, testCase[.ending] == "complete", testCase.isDirect, !testCase.isHedged {
                note("events", "an upload has waited without an event")
            }
            if count(.queueEntered) != count(.queueLeft) { note("events", "a request does not leave its queue") }
            let sent = exchanges - events.count { $0.name == .exchangeFailed && $0[.errorType] == "invalidRequest" }
            let isCounted =
                testCase.isDirect && !testCase.isHedged && !testCase.is(.plan, "stale", "reset")
                && !testCase.isOverChain
            if isCounted, testCase.is(.ending, "complete", "drop"), sent != evidence.seen.count {
                note("count", "observers received \(sent) exchanges, and the server \(evidence.seen.count) requests")
            }
        }

        private mutating func checkRecords() {
            guard testCase.is(.observers, "all", "secret"), !testCase.isOverChain else { return }
            let events = evidence.events
            let starts = events.count { $0.name == .exchangeStart }
            let ends = events.count { $0.name == .exchangeEnd }
            let entries = evidence.archive.flatMap { try? Archive.entries(of: $0) } ?? []
            if entries.count != starts { note("archive", "\(starts) exchanges, and \(entries.count) entries") }
            let answered = entries.count { $0.response.status > 0 }
            if answered < ends { note("archive", "\(ends) exchanges ended, and \(answered) entries have a response") }
            do {
                let kept = try Archive.entries(of: evidence.flight.get()).count
                let isRight = starts > 10 ? kept <= 10 : kept == starts
                if !isRight { note("flight", "\(starts) exchanges, and \(kept) entries") }
            } catch {
                note("flight", "\(error)")
            }
            checkOperation(entries)
            if testCase[.observers] == "secret" {
                // The paths of calls are marked as secrets.
                let flights = (evidence.flights.values + [evidence.flight]).map { (try? $0.get()) ?? Data() }
                let texts =
                    evidence.events.map { "\($0)" }
                    + ([evidence.archive ?? Data()] + flights).map { String(decoding: $0, as: UTF8.self) }
                for text in texts where text.contains("/item") {
                    note("secret", "a record contains a secret path: \(text.prefix(200))")
                }
            }
            let counted = evidence.statistics.origins.values.reduce(0) { $0 + $1.count }
            if counted != starts { note("statistics", "\(starts) exchanges, and \(counted) were counted") }
            if evidence.statistics.loadsInProgress != 0 {
                note("statistics", "\(evidence.statistics.loadsInProgress) loads are in progress")
            }
        }

        /// The flight of the second call also has all requests of the first one, because both are one operation.
        private mutating func checkOperation(_ entries: [Archive.Entry]) {
            for (number, flight) in evidence.flights {
                do {
                    let kept = try Archive.entries(of: flight.get())
                    guard testCase[.concurrency] == "again", number == 2, kept.contains(where: { $0.call == "2" })
                    else { continue }
                    let (all, found) = (entries.count { $0.call == "1" }, kept.count { $0.call == "1" })
                    if found < all { note("operation", "the first call has \(all) exchanges, and the flight \(found)") }
                } catch { note("flight", "\(error)") }
            }
        }

        private mutating func checkProgress() {
            for (index, updates) in evidence.progress.enumerated() {
                for direction in [HTTPRequest.Progress.Direction.upload, .download] {
                    let steps = updates.filter { $0.direction == direction }
                    let falls = zip(steps, steps.dropFirst()).count { $0.completedBytes > $1.completedBytes }
                    let sent = evidence.seen.count { $0.call == "\(index + 1)" }
                    // nginx passes a request on when it has all of its body, so a cancelled one may never arrive.
                    let isLastUnseen = testCase.is(.transport, "http2") && testCase[.ending] != "complete"
                    let mayFall = testCase.isUpload && direction == .upload ? 0 : isLastUnseen ? sent : sent - 1
                    if falls > max(0, mayFall) {
                        note("progress", "\(direction) decreased \(falls) times in \(sent) requests")
                    }
                    let lengths = evidence.contents.map(\.count)
                    if testCase.isUpload, direction == .upload,
                        let step = steps.first(where: { step in
                            step.totalBytes.map { !lengths.contains($0) } ?? true
                        })
                    {
                        note("progress", "\(step.totalBytes ?? -1) bytes in total instead of \(lengths)")
                    }
                    for step in steps where step.totalBytes.map({ $0 < step.completedBytes }) == true {
                        note("progress", "\(step.completedBytes) of \(step.totalBytes ?? 0) bytes")
                    }
                }
            }
        }

        private mutating func checkRemains() {
            if let leak = evidence.leaks.first { note("leak", leak) }
            if evidence.running != 0 { note("slots", "\(evidence.running) requests still run or wait") }
            for file in evidence.files {
                let name = file.split(separator: "/").first.map(String.init) ?? file
                let isPart = name.hasPrefix(".") && testCase[.delivery] == "resumed"
                let isLock = name.hasPrefix(".letterhead-") && name.hasSuffix(".lock")
                // The folder that a file is saved in.
                let isFolder = testCase[.delivery] == "folder" && name == file
                // Its entries are removed when an upload is complete.
                let isUnfinished = evidence.outcomes.contains { !$0.isValue }
                if name == "uploads", name == file || isUnfinished { continue }
                if ["body", "cookies", "cache"].contains(name) || isLock || isPart || isFolder { continue }
                let place = name.hasPrefix("download-") ? Int(name.dropFirst(9)).map { $0 - 1 } : nil
                let isHidden = file.contains("/.")
                if let place, !isHidden, evidence.outcomes.indices.contains(place), evidence.outcomes[place].isValue {
                    continue
                }
                note("files", "\(file) is left")
            }
        }
    }

    private struct Archive: Decodable {
        struct Log: Decodable { let entries: [Entry] }
        struct Entry: Decodable {
            let request: Query
            let response: Reply
            var call: String? { request.headers.first { $0.name.lowercased() == "x-call" }?.value }
        }
        struct Query: Decodable { let headers: [Field] }
        struct Field: Decodable { let name, value: String }
        struct Reply: Decodable { let status: Int }
        let log: Log

        static func entries(of data: Data) throws -> [Entry] {
            try JSONDecoder().decode(Self.self, from: data).log.entries
        }
    }

    extension Outcome {
        var isValue: Bool { if case .value = self { true } else { false } }
        var isCancelled: Bool { if case .cancelled = self { true } else { has(.cancelled) || has(.resetInProgress) } }

        func has(_ code: HTTPError.Code) -> Bool { if case .failure(code, _, _) = self { true } else { false } }
    }

    extension Case {
        var isHedged: Bool { self.is(.link, "hedge", "hedge-balance", "resilience") }

        /// Whether the request may be sent twice.
        var isIdempotent: Bool { !self.is(.method, "POST", "PATCH") || self[.retry] == "idempotent" }
    }
#endif
