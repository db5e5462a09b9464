extension Observation {
    /// Records that a redirect is followed, where it leads, and which headers are not sent there.
    func follow(_ response: HTTPResponse, to hop: HTTPRequest) {
        record(.redirectDecided) { event in
            event.describe(hop)
            event[.status] = response.status.code
            event[.isFollowed] = true
            let withheld = response.request.headers.filter { hop.withheldHeaders.contains($0.name) }
            if !withheld.isEmpty { event[.withheld] = withheld.map { Redaction.visible($0.name.rawValue) } }
        }
    }

    /// Records that a redirect is not followed, and why.
    func refuse(_ response: HTTPResponse, _ refusal: HTTPRedirect.Refusal) {
        record(.redirectDecided) { event in
            event[.status] = response.status.code
            event[.isFollowed] = false
            event[.reason] = refusal.description
        }
    }
}
