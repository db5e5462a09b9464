// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import Testing

@Suite struct WebhookTests {
    private static let body = Data(#"{"test": 2432232314}"#.utf8)
    private static let sent = Date(timeIntervalSince1970: 1_614_265_330)

    private static func standard(after seconds: Double = 0) -> Webhook {
        .standard("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", now: { sent.addingTimeInterval(seconds) })
    }

    private static let headers: HTTPHeaders = [
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,AAAA v2,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ]

    private func reason(_ webhook: Webhook, _ body: Data = body, _ headers: HTTPHeaders = headers)
        -> HTTPAuthentication.Failure.Reason?
    {
        #expect(throws: HTTPAuthentication.Failure.self) { try webhook.verify(body, headers: headers) }?.reason
    }

    @Test func `the published example of Standard Webhooks is verified`() throws {
        try Self.standard().verify(Self.body, headers: Self.headers)
    }

    @Test func `the published example of GitHub is verified`() throws {
        let webhook = Webhook.sha256("old", "It's a Secret to Everybody")
        let value = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        try webhook.verify(Data("Hello, World!".utf8), headers: ["X-Hub-Signature-256": value])
        #expect(reason(webhook, Data("Hello, World".utf8), ["X-Hub-Signature-256": value]) == .invalidSignature)
    }

    @Test func `a timestamped signature is verified`() throws {
        let webhook = Webhook.timestamped(
            "whsec_test", header: "Stripe-Signature", now: { Date(timeIntervalSince1970: 1_492_774_577) })
        let value = "t=1492774577,v1=d1de83d3fea7bcea5b78c332b8e031ea31078c3110b0a4396ff37dda641fbed1"
        #expect(try webhook.sign(Self.body)["Stripe-Signature"] == value)
        try webhook.verify(Self.body, headers: ["Stripe-Signature": "v0=x, \(value), v1=00"])
        #expect(reason(webhook, Self.body, ["Stripe-Signature": String(value.dropFirst(14))]) == .invalidSignature)
    }

    @Test func `the published example of Slack is verified`() throws {
        let webhook = Webhook.slack(
            "8f742231b10e8888abcd99yyyzzz85a5", now: { Date(timeIntervalSince1970: 1_531_420_618) })
        let body = Data(
            """
            token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V\
            &channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=\
            &response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN\
            &trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c
            """.utf8)
        let headers: HTTPHeaders = [
            "X-Slack-Request-Timestamp": "1531420618",
            "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
        ]
        try webhook.verify(body, headers: headers)
        #expect(try webhook.sign(body) == headers)
        #expect(reason(webhook, Self.body, headers) == .invalidSignature)
    }

    @Test(arguments: [
        "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        "757107EA0EB2509FC211221CCE984B8A37570B6D7586C22C46F4379C8B043E17",
        "dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=", "sha256=dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=",
    ]) func `a code alone is verified in hexadecimal and in Base64`(value: String) throws {
        let (webhook, body) = (Webhook.sha256("It's a Secret to Everybody", header: "X-Hmac"), "Hello, World!")
        try webhook.verify(Data(body.utf8), headers: ["X-Hmac": value])
        #expect(reason(webhook, Data("Hello".utf8), ["X-Hmac": value]) == .invalidSignature)
    }

    @Test func `the names of Svix are those of Standard Webhooks`() throws {
        var headers = HTTPHeaders()
        for field in Self.headers {
            headers.append(.init(field.name.rawValue.replacingOccurrences(of: "webhook", with: "svix")), field.value)
        }
        try Self.standard().verify(Self.body, headers: headers)
        headers["svix-timestamp"] = nil
        headers["webhook-timestamp"] = "1614265330"
        #expect(reason(Self.standard(), Self.body, headers) == .invalidSignature)
    }

    @Test(arguments: ["msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330", nil])
    func `an id with a point could move the end of what is signed`(id: String?) {
        var headers = Self.headers
        headers["webhook-id"] = id
        let error = #expect(throws: HTTPAuthentication.Failure.self) {
            try Self.standard().verify(Self.body, headers: headers)
        }
        #expect(error?.message == "the webhook's webhook-id is missing or contains a period")
    }

    @Test(arguments: [-300.0, 300]) func `a webhook within the tolerance is accepted`(seconds: Double) throws {
        try Self.standard(after: seconds).verify(Self.body, headers: Self.headers)
    }

    @Test(
        arguments: [
            (nil, 0, "no timestamp"), ("x", 0, "not a number"), ("1614265330", 301, "too old"),
            ("1614265330", -301, "too far in the future"),
        ] as [(String?, Double, String)])
    func `the error about the time of a webhook names its cause`(time: String?, seconds: Double, cause: String) {
        var headers = Self.headers
        headers["webhook-timestamp"] = time
        let error = #expect(throws: HTTPAuthentication.Failure.self) {
            try Self.standard(after: seconds).verify(Self.body, headers: headers)
        }
        #expect(error.map { "\($0)" }?.contains(cause) == true)
    }

    @Test(arguments: ["webhook-id", "webhook-timestamp"] as [HTTPHeaders.Name])
    func `a changed header is refused`(name: HTTPHeaders.Name) {
        var headers = Self.headers
        headers[name] = name == "webhook-id" ? "other" : "1614265331"
        #expect(reason(Self.standard(), Self.body, headers) == .invalidSignature)
        headers[name] = nil
        #expect(reason(Self.standard(), Self.body, headers) == .invalidSignature)
    }

    @Test(arguments: ["", "v1", "v1,", "v1,====", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="])
    func `a malformed signature is refused`(value: String) {
        var headers = Self.headers
        headers["webhook-signature"] = value
        #expect(reason(Self.standard(), Self.body, headers) == .invalidSignature)
    }

    @Test func `a webhook without a signature is refused`() {
        #expect(reason(Self.standard(), Self.body, [:]) == .missingSignature)
    }

    @Test(arguments: ["", "whsec_", "whsec_?"] as [Secret]) func `a malformed secret is refused`(secret: Secret) {
        #expect(reason(.standard(secret, now: { Self.sent })) == .misconfigured)
    }

    @Test func `what the signer signs is verified`() throws {
        for webhook in [Self.standard(), .sha256("s"), .slack("s"), .timestamped("s", header: "X-Signature")] {
            try webhook.verify(Self.body, headers: webhook.sign(Self.body))
        }
    }
}
