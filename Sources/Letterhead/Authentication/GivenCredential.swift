import Foundation

/// A credential that was given beforehand, and where it is written; without a value when it breaks a rule.
struct GivenCredential: Hashable, Sendable {
    let place: CredentialPlace
    let value: Secret?
}

extension HTTPAuthentication {
    /// A method that writes one credential into each request.
    static func given(
        _ name: String, _ credential: Result<String, RefusedCredential>, in place: CredentialPlace,
        allowedOrigins: [URL]?
    ) -> HTTPAuthentication {
        let value = (try? credential.get()).map { Secret($0) }
        return HTTPAuthentication(
            .method(
                SigningMethod(
                    name, place: place, origins: AllowedOrigins(allowedOrigins),
                    memory: .given(GivenCredential(place: place, value: value)),
                    link: SignRequest(credential, in: place))))
    }
}
