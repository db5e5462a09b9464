// SPDX-License-Identifier: MIT
#if os(Linux)
    import Letterhead
    import LetterheadTransfers

    /// Plays the documented rules for one call, so far as they determine what happens.
    struct Model {
        /// What must come out.
        enum End: Equatable {
            case value, status(Int)
            case failure([HTTPError.Code])

            var isTemporary: Bool { [.status(503), .status(429), .failure([.connectionLost])].contains(self) }
        }

        struct Expectation {
            let end: End
            /// The servers that receive a signed request, in order, or nil if that is not certain.
            let sites: [Bool]?
        }

        private let testCase: Case
        private var steps: ArraySlice<Step> = []
        private var method: String
        /// Whether each request goes to the other origin.
        private var sites: [Bool] = []
        private var attempts = 0
        private var hasKeptMethod = true

        init(_ testCase: Case) {
            self.testCase = testCase
            method = testCase[.method]
        }

        /// nil where the sequence is not certain.
        var expectation: Expectation? {
            // The near end of a relay redirects and retries. The far end has the body in memory.
            guard testCase.isDirect || testCase[.body] != "once", testCase[.ending] == "complete",
                !testCase.is(.link, "hedge", "hedge-balance", "resilience"),
                !(testCase[.body] == "once"
                    && (testCase.fetchesTokens || testCase.is(.authentication, "digest", "challenge"))),
                !(testCase[.authentication] == "challenge" && testCase.is(.plan, "401", "401-always")),
                !testCase.hasUnverifiedPage,
                !(testCase[.plan] == "stale" && (!testCase.isIdempotent || testCase[.body] == "once")),
                // A request on a connection that was used before may be sent again without a word.
                !(testCase[.plan] == "reset" && testCase.is(.authentication, "digest", "challenge", "oauth-home"))
            else { return nil }
            if testCase[.delivery] == "resumed", testCase[.method] != "GET" || testCase[.body] != "none" {
                return Expectation(end: .failure([.invalidRequest]), sites: [])
            }
            if testCase.isUpload {
                let isRefused =
                    testCase.is(.method, "GET", "HEAD", "QUERY") || testCase[.retry] == "idempotent"
                    || testCase.is(.body, "stream", "once")
                if isRefused { return Expectation(end: .failure([.invalidRequest]), sites: []) }
                // A digest is of the content with its codings.
                if testCase.isUploadDraft, testCase[.authentication] == "chunks", testCase.is(.body, "text", "file") {
                    return testCase[.plan] == "ok" ? Expectation(end: .failure([.invalidRequest]), sites: nil) : nil
                }
                // tus has no place for a content coding.
                if testCase[.body] == "compressed", !testCase.isUploadDraft {
                    return testCase[.plan] == "ok" ? Expectation(end: .failure([.uploadUnsupported]), sites: nil) : nil
                }
                // The policy decides about the other origin, and a closure is called for redirects only.
                if testCase.isUploadAway, testCase.is(.redirects, "never", "same", "custom") {
                    return Expectation(end: .failure([.uploadUnsupported]), sites: nil)
                }
                // Losses and temporary failures are overcome.
                let isOvercome = testCase.is(
                    .plan, "ok", "503", "busy", "429", "page", "cut", "cut-chunks", "cut-twice", "reset", "stale",
                    "interim",
                    "until-close", "gzip", "slow", "pieces")
                return isOvercome ? Expectation(end: .value, sites: nil) : nil
            }
            if testCase[.method] == "HEAD", testCase[.body] != "none" {
                return Expectation(end: .failure([.invalidRequest]), sites: [])
            }
            let isRepeatable = testCase.isIdempotent && testCase[.body] != "once"
            if testCase[.delivery] == "reconnecting" {
                guard isRepeatable, testCase[.plan] == "ok", testCase[.method] != "HEAD" else { return nil }
                return Expectation(end: .value, sites: nil)
            }
            let isFollowed = testCase[.delivery] == "followed"
            if isFollowed, testCase[.method] == "HEAD" || !testCase.is(.plan, "ok", "gzip", "pieces", "until-close") {
                return nil
            }
            if testCase.isPaged, testCase[.method] != "GET" || testCase[.body] == "once" { return nil }
            var model = self
            model.steps = testCase.steps[...]
            var end = model.play()
            // A download that resumes also sends its first request again. Retries count.
            if testCase[.delivery] == "resumed" {
                while end.isTemporary, model.attempts <= Call.mostContinuations { end = model.play() }
            }
            // Validators run before the file is complete.
            if end == .value, testCase[.delivery] == "resumed", testCase[.authentication] == "verified" {
                return Expectation(end: .failure([.validationFailed]), sites: nil)
            }
            // The second page is a separate load, unless the first one came from another origin.
            if testCase.isPaged, end == .value {
                end = model.sites.last == true ? .failure([.invalidResponse]) : model.play()
            }
            // The value that is cut off is requested once more.
            if end == .value, isFollowed {
                let sites = isRepeatable ? model.sites + model.sites : nil
                return Expectation(end: .failure([.cannotDecodeResponse]), sites: sites)
            }
            if end == .value, testCase[.delivery] == "failing", testCase[.method] != "HEAD" {
                end = .failure([.reportedFailure])
            }
            return Expectation(end: end, sites: testCase[.plan] == "stale" ? nil : model.sites)
        }

        private mutating func play() -> End {
            var end = attempt()
            // A load takes part in one alternate request.
            let retries = testCase[.retry] == "alternate" && end == .status(503) ? 1 : 2
            for _ in 0..<retries where mayRetry(after: end) { end = attempt() }
            return end
        }

        private mutating func next() -> Step { steps.count > 1 ? steps.removeFirst() : steps.first ?? .ok }

        /// One attempt, with its redirects and what authentication repeats.
        private mutating func attempt() -> End {
            attempts += 1
            (method, hasKeptMethod) = (testCase[.method], true)
            var isAway = false
            var hops = 0
            var hasBody = testCase[.body] != "none"
            var isRefused = false
            while true {
                sites.append(isAway)
                switch next() {
                case .redirect(let status, let leads):
                    let policy = testCase[.redirects]
                    if policy == "never" || policy == "same" && leads { return .status(status) }
                    let changes =
                        policy != "keeping"
                        && (status == 303 && !["GET", "HEAD"].contains(method) || status == 302 && method == "POST")
                    if changes { (method, hasBody, hasKeptMethod) = ("GET", false, false) }
                    if hasBody, testCase[.body] == "once" { return .status(status) }
                    hops += 1
                    if hops > (policy == "one" ? 1 : 20) { return .failure([.tooManyRedirects]) }
                    isAway = isAway || leads
                case .refuse:
                    let isRenewed = testCase.fetchesTokens && !isAway && !isRefused
                    guard isRenewed else { return .status(401) }
                    isRefused = true
                case .status(let status), .busy(let status): return .status(status)
                case .page: return .status(503)
                case .early: return .status(413)
                case .reset: return .failure([.connectionLost])
                case .cut, .cutChunks:
                    if method == "HEAD" { return .value }
                    guard isContinued else { return .failure([.invalidResponse]) }
                    // The rest is requested from the first URL on.
                    isAway = false
                case .ok, .stale, .interim, .untilClose, .gzip, .slow, .pieces: return .value
                }
            }
        }

        /// Whether the rest of a body is requested when its connection is lost.
        private var isContinued: Bool {
            let isStreamed = testCase[.delivery] != "buffered" && !testCase.isPaged
            let isAsked = testCase[.outer] == "continue" && isStreamed || testCase[.delivery] == "resumed"
            return isAsked && testCase[.method] == "GET" && testCase[.body] == "none" && testCase[.plan] != "cut-chunks"
        }

        private func mayRetry(after end: End) -> Bool {
            guard testCase[.retry] != "none", testCase[.body] != "once" else { return false }
            let isRefusal = testCase.is(.plan, "busy", "429") && testCase[.retry] == "refusals" && hasKeptMethod
            let isSafe =
                testCase.isIdempotent && (!["POST", "PATCH"].contains(method) || testCase[.retry] == "idempotent")
            guard isSafe || isRefusal else { return false }
            switch end {
            case .status(503): return true
            case .status(429): return testCase[.retry] != "validator"
            case .failure(let codes): return codes == [.connectionLost] && testCase[.retry] != "validator"
            default: return false
            }
        }
    }

    extension Case {
        /// Whether a verifier refuses the page of an error, because its body is beyond the limit and not in memory.
        var hasUnverifiedPage: Bool {
            self[.authentication] == "verified" && self[.plan] == "page" && self[.limit] == "small"
        }
    }

    extension Model.Expectation {
        func faults(_ evidence: Evidence) -> [Fault] {
            var faults: [Fault] = []
            // The calls of a case may affect each other, but what succeeds alone succeeds twice.
            let isAlone = evidence.outcomes.count == 1
            for outcome in isAlone || end == .value ? evidence.outcomes : [] where !isMet(by: outcome) {
                faults.append(Fault(rule: "outcome", detail: "\(outcome) instead of \(end)"))
            }
            let seen = evidence.seen.filter { $0.isOfCall && $0.isSigned }.map { $0.site == .other }
            if isAlone, let sites, seen != sites {
                let names = { (sites: [Bool]) in sites.map { $0 ? "other" : "api" }.joined(separator: " ") }
                faults.append(Fault(rule: "requests", detail: "\(names(seen)) instead of \(names(sites))"))
            }
            return faults
        }

        private func isMet(by outcome: Outcome) -> Bool {
            switch (end, outcome) {
            case (.value, .value): true
            case (.status(let status), .failure(let code, let received, _)):
                [.unacceptableStatus, .retriesExhausted].contains(code) && received == status
            case (.failure(let codes), .failure(let code, _, _)): codes.contains(code)
            default: false
            }
        }
    }
#endif
