// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import TestKit
import Synchronization
import Testing

@testable import Letterhead
@testable import LetterheadOAuth

/// What servers send besides what RFC 6749 describes.
@Suite struct TokenResponseTests {
    private let server = AuthorizationServer()

    private func chain(store: OAuth2.MemoryTokenStore = OAuth2.MemoryTokenStore()) -> any HTTPLoader {
        Authenticate(.testing(.refreshToken("r0"), store: store)) --> server
    }

    @Test(arguments: [
        #"{"error":"invalid_grant"}"#, #"{"error":"bad_refresh_token","error_description":"expired"}"#,
        "error=bad_refresh_token&error_description=The+token+has+expired",
    ])
    func `an error with a status of success ends the session as any other does`(body: String) async throws {
        let store = OAuth2.MemoryTokenStore(OAuth2.Tokens(accessToken: "old", refreshToken: "r0"))
        server.next(.answer(200, body))
        #expect(await chain(store: store).failing()?.reason == .loggedOut)
        #expect(await store.load() == nil)
    }

    @Test(arguments: [
        #"{"access_token":"x","scope":"repo,gist","expires_in":"3600"}"#,
        "access_token=x&scope=repo%2Cgist&token_type=bearer&expires_in=3600",
        #"{"access_token":"x","token_type":null,"scope":"repo gist","expires_in":3600}"#,
        #"{"access_token":"x","scope":"repo, gist","expires_in":3600}"#,
    ])
    func `a form, a missing type and scopes with commas are read`(body: String) async throws {
        server.state.withLock { _ = $0.good.insert("x") }
        server.next(.answer(200, body))
        let store = OAuth2.MemoryTokenStore()
        #expect(try await chain(store: store).ask(scopes: ["gist"]) == .ok)
        let tokens = await store.load()
        #expect(tokens?.scope == ["repo", "gist"] && tokens?.members.isEmpty == true)
        #expect(tokens?.expiresAt == Date(timeIntervalSince1970: 1_003_600))
    }

    @Test(arguments: [
        ("a,b c", ["a,b", "c"]), ("a, b", ["a", "b"]), ("a ,b", ["a", "b"]), ("a , b,c", ["a", "b", "c"]), (", ", []),
    ])
    func `commas separate scopes beside a space or without one`(text: String, scopes: [String]) throws {
        let body = Data(#"{"access_token":"x","scope":"\#(text)"}"#.utf8)
        #expect(try TokenAnswer.grant(in: body).scope == Set(scopes))
    }

    @Test(arguments: ["0", "false", "null", "{}", "[1]", #""""#])
    func `a token is used unless the member error is a text`(error: String) async throws {
        server.state.withLock { _ = $0.good.insert("x") }
        server.next(.answer(200, #"{"access_token":"x","error":\#(error)}"#))
        #expect(try await chain().ask() == .ok)
    }

    private static func marks(_ count: Int) -> String { String(repeating: "\u{301}\u{316}", count: count) }

    @Test(arguments: [
        #"{"access_token":"x","token_type":"MARKS"}"#, #"{"access_token":"x","scope":"a MARKS b"}"#,
        #"{"access_token":"MARKS"}"#, #"{"aMARKS":"x"}"#, #"{"access_token":"x","refresh_token":"MARKS"}"#,
        #"{"access_token":"x","extra":"MARKS"}"#, "MARKS=x", "access_token=x&scope=MARKS",
        #"{"access_token":"x","expires_in":"MARKS"}"#,
    ])
    func `a token response takes linear time in combining marks`(body: String) {
        let ratio = growth(of: 10_000) { count in
            _ = try? TokenAnswer.grant(in: Data(body.replacing("MARKS", with: Self.marks(count)).utf8))
        }
        #expect(ratio < 10)
    }

    @Test(arguments: [#"{"error":"MARKS"}"#, #"{"error":"invalid_grant","error_description":"MARKS"}"#, "error=MARKS"])
    func `a refusal takes linear time in combining marks, and its code is ASCII`(body: String) {
        let ratio = growth(of: 10_000) { count in
            let answer = ServerAnswer(Data(body.replacing("MARKS", with: Self.marks(count)).utf8))
            let failure = TokenAnswer.refusal(.ok, answer, of: "x", hiding: ["secret"])
            #expect(failure.code != "authorization_pending" && failure.code?.utf8.count ?? 0 < 100)
        }
        #expect(ratio < 10)
    }

    @Test(arguments: ["error=MARKS&state=s", "code=c&state=MARKS", "code=MARKS&state=s", "MARKS=c&state=s"])
    func `a callback takes linear time in combining marks`(query: String) throws {
        let url = try #require(URL(string: "https://app.example.com/callback"))
        let page = AuthorizationPage(endpoint: url, redirectURI: url, issuer: nil, parameters: [:]) { $0 }
        let ratio = growth(of: 10_000) { count in
            let marks = String(repeating: "%CC%81%CC%96", count: count)
            guard let callback = URL(string: "\(url)?\(query.replacing("MARKS", with: marks))") else { return }
            do throws(HTTPAuthentication.Failure) {
                _ = try AuthorizationCallback(callback, of: page).code(state: "s")
            } catch {
                #expect(error.code != "access_denied")
            }
        }
        #expect(ratio < 10)
    }
}
