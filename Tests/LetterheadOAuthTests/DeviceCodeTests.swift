// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import TestKit
import Testing

private let token = "https://auth.example.com/token"
private let device = "https://auth.example.com/device"

@Suite(.timeLimit(.minutes(1))) struct DeviceCodeTests {
    private let scene = Scene()
    private let clock = TestClock(isAutomatic: true)

    private func signIn(scope: Set<String>? = nil) async throws {
        try await OAuth2.Session.testing(over: scene, signIn: .deviceCode(scope: scope) { _ in }, clock: clock).signIn()
    }

    @Test func `the person sees the code, and tokens are requested until the person has decided`() async throws {
        scene.answer(token, .error("authorization_pending"), .error("authorization_pending"), .json(Scene.tokens))
        let shown = Mutex<[OAuth2.DeviceCode]>([])
        let signIn = OAuth2.SignIn.deviceCode(scope: ["read", "a"]) { code in shown.withLock { $0.append(code) } }
        try await OAuth2.Session.testing(over: scene, signIn: signIn, clock: clock).signIn()
        let code = try #require(shown.withLock { $0.first })
        #expect(code.userCode == "WDJB-MJHT" && code.verificationURL.absoluteString == device)
        #expect(code.completeURL == nil && code.lifetime == .seconds(600) && shown.withLock { $0.count } == 1)
        let resource = "https://api.example.com/mcp"
        #expect(scene.forms("/device") == [["client_id": "app", "scope": "a read", "resource": resource]])
        let form = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "d3vice", "client_id": "app",
            "resource": resource,
        ]
        #expect(scene.forms("/token") == [form, form, form])
        #expect(clock.sleeps == [.seconds(1), .seconds(1), .seconds(1)])
    }

    @Test func `a server that does not name an interval is asked every five seconds`() async throws {
        scene.answer(device, .json(Scene.device.replacing(#""interval":1,"#, with: "")))
        scene.answer(token, .error("authorization_pending"), .json(Scene.tokens))
        try await signIn()
        #expect(clock.sleeps == [.seconds(5), .seconds(5)])
    }

    @Test func `each slow_down adds five seconds to the interval`() async throws {
        scene.answer(
            token, .error("slow_down"), .error("authorization_pending"), .error("slow_down"), .json(Scene.tokens))
        try await signIn()
        #expect(clock.sleeps == [.seconds(1), .seconds(6), .seconds(6), .seconds(11)])
    }

    @Test func `a server that is unavailable is asked less often`() async throws {
        scene.answer(token, .status(.serviceUnavailable), .status(.serviceUnavailable), .json(Scene.tokens))
        try await signIn()
        #expect(clock.sleeps == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test func `an expired code ends the sign-in, and is not sent again`() async throws {
        scene.answer(device, .json(Scene.device.replacing("600", with: "2.5")))
        scene.answer(token, .error("authorization_pending"))
        let failure = await authenticationFailure { try await signIn() }
        #expect(failure?.reason == .refused && failure?.code == "expired_token")
        #expect(failure?.message.contains("expired") == true)
        #expect(clock.sleeps == [.seconds(1), .seconds(1), .seconds(0.5)] && scene.forms("/token").count == 2)
    }

    @Test(arguments: [("access_denied", "denied"), ("expired_token", "expired"), ("invalid_client", "invalid_client")])
    func `the server's decision ends the sign-in`(code: String, word: String) async throws {
        scene.answer(token, .error("authorization_pending"), .error(code))
        let failure = await authenticationFailure { try await signIn() }
        #expect(failure?.reason == .refused && failure?.code == code)
        #expect(failure?.message.contains(word) == true)
        #expect(scene.forms("/token").count == 2)
    }

    @Test(arguments: [
        ("WDJB-MJHT", "\\u001b[2J"), ("WDJB-MJHT", ""), ("https://auth.example.com/device", "http://auth.example.com/"),
        ("https://auth.example.com/device", "javascript:alert(1)"), ("device_code", "other"), ("{", "["),
        ("expires_in", "other"), ("600", "\"soon\""), ("https://auth.", "https://auth.example.com@evil."),
    ])
    func `a malformed response of the device endpoint is refused, and nothing is shown`(
        part: String, other: String
    ) async throws {
        scene.answer(device, .json(Scene.device.replacing(part, with: other)))
        let shown = Atomic(0)
        let session = try OAuth2.Session.testing(
            over: scene, signIn: .deviceCode { _ in shown.add(1, ordering: .relaxed) }, clock: clock)
        #expect(await authenticationFailure { try await session.signIn() }?.reason == .malformed)
        #expect(shown.load(ordering: .relaxed) == 0 && scene.forms("/token").isEmpty)
    }

    @Test func `a reset of the client ends the wait for the person`() async throws {
        let clock = TestClock()
        let session = try OAuth2.Session.testing(over: scene, clock: clock)
        let client = HTTPClient(
            environment: ServerEnvironment("https://api.example.com"), authentication: session.authentication,
            transport: scene)
        let request = Task { try await client.send(Get<HTTPResponse>("/mcp")) }
        await clock.waitForSleepers(1)
        await client.reset()
        await #expect { _ = try await request.value } throws: { ($0 as? HTTPError)?.code == .cancelled }
        while clock.sleepers > 0 { await Task.yield() }
        #expect(scene.forms("/token").isEmpty)
    }

    @Test func `a refusal that quotes the device code does not print it`() async throws {
        scene.answer(token, .status(.badRequest, #"{"error":"invalid_request","error_description":"no d3vice here"}"#))
        let failure = try #require(await authenticationFailure { try await signIn() })
        #expect(failure.message.contains("invalid_request") && !failure.message.contains("d3vice"))
    }

    @Test func `errors with a status of success, and numbers as strings, are read`() async throws {
        scene.answer(device, .json(Scene.device.replacing("600", with: "\"600\"").replacing(":1,", with: ":\"2\",")))
        scene.answer(
            token, .json(#"{"error":"authorization_pending"}"#), .json("error=slow_down&interval=7"),
            .json(Scene.tokens))
        try await signIn()
        #expect(clock.sleeps == [.seconds(2), .seconds(2), .seconds(7)])
        scene.answer(device, .json(#"{"error":"device_flow_disabled"}"#))
        #expect(await authenticationFailure { try await signIn() }?.code == "device_flow_disabled")
    }

    @Test(arguments: [#"{"error":"MARKS"}"#, #"{"error":"access_denied","error_description":"MARKS"}"#])
    func `an error of the token endpoint takes linear time in combining marks`(body: String) async throws {
        let ratio = await growth(of: 10_000) { count in
            scene.answer(token, .status(.badRequest, body.replacing("MARKS", with: marks(count))))
            let isCode = body.contains("access_denied")
            #expect(await authenticationFailure { try await signIn() }?.reason == (isCode ? .refused : .malformed))
        }
        #expect(ratio < 10)
    }

    @Test(arguments: ["device_code", "user_code", "verification_uri", "verification_uri_complete", "a"])
    func `a response of the device endpoint takes linear time in combining marks`(name: String) async throws {
        scene.answer(token, .error("access_denied"))
        let ratio = await growth(of: 10_000) { count in
            let member = #"{"\#(name == "a" ? name + marks(count) : name)":"https://a.example/\#(marks(count))","#
            scene.answer(device, .json(member + Scene.device.dropFirst()))
            _ = await authenticationFailure { try await signIn() }
        }
        #expect(ratio < 10)
    }
}
