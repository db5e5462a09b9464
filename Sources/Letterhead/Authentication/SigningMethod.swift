/// One way to sign requests: the link that does it, and where its credentials belong.
///
/// A class, because a reset must find the one whose remembered credentials all copies of an authentication share.
final class SigningMethod: Sendable {
    /// What a method knows from one request to the next, and who binds it to an origin.
    enum Memory {
        /// Nothing: it signs every request with a credential that was given beforehand. Each client binds it by itself.
        case given(GivenCredential)
        /// A credential that the link obtains, remembers and binds by itself.
        case bound
        /// Whatever a link of the user's own remembers: all of it belongs to the first origin.
        case unknown(CredentialHome)
    }

    /// What it prints as.
    let name: String
    /// Where its credential stands in a request; nil when only the link knows.
    let place: CredentialPlace?
    /// Where its credentials belong.
    let origins: AllowedOrigins
    /// What it remembers.
    let memory: Memory
    /// Signs, sends the request on, and judges the response.
    let link: any LoaderLink

    init(_ name: String, place: CredentialPlace?, origins: AllowedOrigins, memory: Memory, link: any LoaderLink) {
        self.name = name
        self.place = place
        self.origins = origins
        self.memory = memory
        self.link = link
    }

    /// Whether there is something to reset.
    var isStateful: Bool {
        if case .given = memory { false } else { true }
    }

    /// Resets this method alone; what is below it is reset by whoever calls.
    func reset() async {
        await link.reset(next: Nothing())
        if case .unknown(let home) = memory { home.forget() }
    }
}
