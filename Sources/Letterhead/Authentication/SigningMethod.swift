/// A way to sign requests: the link that signs, and the origins to which its credentials belong.
///
/// This type is a class because all copies of an authentication share the stored credentials, which a reset must
/// remove.
final class SigningMethod: Sendable {
    /// The state that a method keeps between requests, and the part of the library that binds it to an origin.
    enum Memory {
        /// No state: the method signs every request with a fixed credential. Each client binds it separately.
        case given(GivenCredential)
        /// A credential that the link obtains, stores and binds itself.
        case bound
        /// Unknown state of a custom link. All of it belongs to the first origin.
        case unknown(CredentialHome)
    }

    /// The name in descriptions.
    let name: String
    /// The part of the request that contains the credential; nil if only the link knows this part.
    let place: CredentialPlace?
    /// The origins to which its credentials belong.
    let origins: AllowedOrigins
    /// The kind of state that it keeps.
    let memory: Memory
    /// Signs a request, passes it to the next loader, and inspects the response.
    let link: any LoaderLink

    init(_ name: String, place: CredentialPlace?, origins: AllowedOrigins, memory: Memory, link: any LoaderLink) {
        self.name = name
        self.place = place
        self.origins = origins
        self.memory = memory
        self.link = link
    }

    /// Whether a reset has an effect.
    var isStateful: Bool {
        if case .given = memory { false } else { true }
    }

    /// Resets this method only. The caller resets the links below.
    func reset() async {
        await link.reset(next: Nothing())
        if case .unknown(let home) = memory { home.forget() }
    }
}
