// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@Suite struct SecretTests {
    private let secret = Secret("SECRET")

    @Test func `a secret is in no description`() {
        var dumped = ""
        dump(secret, to: &dumped)
        dump(["key": secret], to: &dumped)
        dump((username: "ada", password: secret), to: &dumped)
        let texts = [
            "\(secret)", String(describing: Optional(secret)), String(reflecting: secret), "\([secret])",
            "\((username: "ada", password: secret))", dumped,
        ]
        for text in texts { #expect(!text.contains("SECRET") && text.contains("redacted")) }
    }

    @Test func `a secret reveals its text on request`() { #expect(secret.reveal() == "SECRET") }

    @Test func `secrets are equal if their texts are`() {
        #expect(secret == "SECRET" && secret != "OTHER")
    }
}
