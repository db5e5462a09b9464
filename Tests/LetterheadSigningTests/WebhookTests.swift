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

    @Test(arguments: [-301.0, 301]) func `a webhook outside of the tolerance is refused`(seconds: Double) {
        #expect(reason(Self.standard(after: seconds)) == .invalidSignature)
    }

    @Test(arguments: [-300.0, 300]) func `a webhook within the tolerance is accepted`(seconds: Double) throws {
        try Self.standard(after: seconds).verify(Self.body, headers: Self.headers)
    }

    @Test(
        arguments: [
            (nil, 0, "no time"), ("x", 0, "not a number"), ("1614265330", 301, "too old"),
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
        for webhook in [Self.standard(), .sha256("s"), .timestamped("s", header: "X-Signature")] {
            try webhook.verify(Self.body, headers: webhook.sign(Self.body))
        }
    }
}
