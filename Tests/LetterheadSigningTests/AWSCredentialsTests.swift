// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

@Suite struct AWSCredentialsTests {
    @Test(
        arguments: [
            (#"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"s"}"#, nil, nil),
            (
                #"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"s","SessionToken":"t","Expiration":"1970-01-01T00:01:00Z"}"#,
                60, nil
            ),
            (
                #"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"s","Expiration":"soon"}"#, nil,
                "the credential process returned an Expiration that is not an ISO 8601 date"
            ),
            (#"{"Version":2,"AccessKeyId":"A","SecretAccessKey":"s"}"#, nil, malformed),
            (#"{"Version":1,"AccessKeyId":"A"}"#, nil, malformed), ("sign in first", nil, malformed),
            (#"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"s","\#(marks)":1}"#, nil, malformed),
        ] as [(String, Double?, String?)])
    func `the output of a credential process is read`(text: String, end: Double?, message: String?) throws {
        guard let message else {
            let credentials = try AWSCredentials(processOutput: Data(text.utf8))
            #expect(credentials.accessKey == "A" && credentials.secretKey == "s")
            #expect(credentials.expiresAt == end.map { Date(timeIntervalSince1970: $0) })
            return
        }
        let error = #expect(throws: HTTPAuthentication.Failure.self) {
            try AWSCredentials(processOutput: Data(text.utf8))
        }
        #expect(error?.message == message)
    }

    private static let marks = String(repeating: "\u{301}", count: 31)
    private static let malformed =
        "the output of the credential process has no Version 1, AccessKeyId or SecretAccessKey"

    @Test func `the environment's key is read`() throws {
        let variables = ["AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"]
        let credentials = try AWSCredentials.Provider.credentials(variables, in: "the environment")
        #expect(credentials.accessKey == "AKID" && credentials.secretKey == "secret")
        #expect(credentials.sessionToken == "token" && credentials.expiresAt == nil)
    }

    @Test func `a missing key is named`() throws {
        let variables = ["AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": ""]
        let error = #expect(throws: HTTPAuthentication.Failure.self) {
            try AWSCredentials.Provider.credentials(variables, in: "the environment")
        }
        #expect(error?.reason == .noCredentials)
        #expect(error?.message == "the environment has no AWS_SECRET_ACCESS_KEY")
    }

    private static let file = """
        # comment
        [default]
        aws_access_key_id = A
        [ work ] ; comment
        AWS_ACCESS_KEY_ID=B
          aws_secret_access_key = s=/+
        ; aws_session_token = no
        nonsense
        [other]
        aws_access_key_id = C
        """

    @Test func `a profile's section is read`() {
        let members = AWSCredentials.Provider.section("work", of: Self.file)
        #expect(members == ["AWS_ACCESS_KEY_ID": "B", "AWS_SECRET_ACCESS_KEY": "s=/+"])
    }

    @Test func `a byte order mark in the credentials file is skipped`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")
        let text = "\u{FEFF}[default]\r\naws_access_key_id = A\r\naws_secret_access_key = s\r\n"
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await AWSCredentials.Provider.profile("default", file: file).load().accessKey == "A")
    }

    @Test func `a file without the profile's secret is refused`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")
        try Data(Self.file.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = await #expect(throws: HTTPAuthentication.Failure.self) {
            try await AWSCredentials.Provider.profile("default", file: file).load()
        }
        #expect(error?.message == "the profile \"default\" has no AWS_SECRET_ACCESS_KEY")
    }

    @Test func `credentials are kept until five minutes before they expire`() async throws {
        let (now, calls) = (SharedValue(Date(timeIntervalSince1970: 0)), Counter())
        let provider = AWSCredentials.Provider {
            calls.next()
            return AWSCredentials(accessKey: "A", secretKey: "s", expiresAt: Date(timeIntervalSince1970: 3_600))
        }
        let state = AWSState(provider) { now.withLock { $0 } }
        for seconds in [0.0, 3_299, 3_300] {
            now.withLock { $0 = Date(timeIntervalSince1970: seconds) }
            _ = try await state.credentials(for: HTTPRequest())
        }
        while calls.value == 1 { await Task.yield() }
        #expect(calls.value == 2)
    }

    @Test func `a provider that hangs delays no request while the kept credentials last, and none for ever`()
        async throws
    {
        let (now, calls) = (SharedValue(Date(timeIntervalSince1970: 0)), Counter())
        let gate = AsyncStream<Void>.makeStream()
        let provider = AWSCredentials.Provider {
            let number = calls.next()
            if number == 2 { for await _ in gate.stream {} }
            return AWSCredentials(
                accessKey: "\(number)", secretKey: "s", expiresAt: Date(timeIntervalSince1970: Double(number) * 3_600))
        }
        let state = AWSState(provider) { now.withLock { $0 } }
        for seconds in [0.0, 3_400, 3_599] {
            now.withLock { $0 = Date(timeIntervalSince1970: seconds) }
            #expect(try await state.credentials(for: HTTPRequest()).accessKey == "1")
        }
        while calls.value == 1 { await Task.yield() }
        now.withLock { $0 = Date(timeIntervalSince1970: 3_600) }
        #expect(try await state.credentials(for: HTTPRequest()).accessKey == "3")
        state.reset()
    }

    @Test func `credentials that end soon are loaded again every 30 seconds, and not for each request`() async throws {
        let (now, calls) = (SharedValue(Date(timeIntervalSince1970: 0)), Counter())
        let provider = AWSCredentials.Provider {
            calls.next()
            return AWSCredentials(accessKey: "A", secretKey: "s", expiresAt: Date(timeIntervalSince1970: 240))
        }
        let state = AWSState(provider) { now.withLock { $0 } }
        for (seconds, count) in [(0.0, 2), (29, 2), (30, 3)] {
            now.withLock { $0 = Date(timeIntervalSince1970: seconds) }
            for _ in 0..<20 {
                _ = try await state.credentials(for: HTTPRequest())
                for _ in 0..<20 { await Task.yield() }
            }
            while calls.value < count { await Task.yield() }
            #expect(calls.value == count)
        }
    }

    @Test func `requests at once share one load`() async throws {
        let calls = Counter()
        let provider = AWSCredentials.Provider {
            calls.next()
            for _ in 1...50 { await Task.yield() }
            return AWSCredentials(accessKey: "A", secretKey: "s")
        }
        let state = AWSState(provider) { Date() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...50 { group.addTask { _ = try await state.credentials(for: HTTPRequest()) } }
            try await group.waitForAll()
        }
        #expect(calls.value == 1)
    }

    @Test func `credentials are used until they end if the provider fails`() async throws {
        struct Outage: LocalizedError { var errorDescription: String? { "the vault is sealed" } }
        let (now, calls) = (SharedValue(Date(timeIntervalSince1970: 0)), Counter())
        let provider = AWSCredentials.Provider {
            if calls.next() > 1 { throw Outage() }
            return AWSCredentials(accessKey: "A", secretKey: "s", expiresAt: Date(timeIntervalSince1970: 3_600))
        }
        let signer = AWSSigner(service: "s3", region: "r", credentials: provider) { now.withLock { $0 } }
        let mock = MockLoader { .ok($0) }
        let url = try #require(URL(string: "https://a.example/"))
        let client = HTTPClient(authentication: .signing(by: signer, allowedOrigins: [url]), transport: mock)
        for seconds in [0.0, 3_400, 3_599] {
            now.withLock { $0 = Date(timeIntervalSince1970: seconds) }
            _ = try await client.send(HTTPRequest(url: url))
        }
        now.withLock { $0 = Date(timeIntervalSince1970: 3_600) }
        let error = await failure { try await client.send(HTTPRequest(url: url)) }
        #expect(error?.code == .cannotAuthenticate && error?.underlying is Outage && mock.requests.count == 3)
        #expect(error?.message == "could not obtain credentials: the vault is sealed")
    }

    @Test func `a reset ends a load, and nothing of it is kept`() async throws {
        let (calls, gate) = (Counter(), AsyncStream<Void>.makeStream())
        let provider = AWSCredentials.Provider {
            let number = calls.next()
            if number == 1 { for await _ in gate.stream {} }
            return AWSCredentials(accessKey: "\(number)", secretKey: "s")
        }
        let state = AWSState(provider) { Date() }
        let first = Task { try await state.credentials(for: HTTPRequest()) }
        while calls.value == 0 { await Task.yield() }
        state.reset()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.continuation.finish()
        #expect(try await state.credentials(for: HTTPRequest()).accessKey == "2")
    }

    static let refusals: [(HTTPStatus, HTTPHeaders, String?, Bool)] = [
        (400, [:], "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>", true),
        (400, [:], "<Error><Code>InvalidToken</Code></Error>", true),
        (403, [:], "<Error><Code>InvalidAccessKeyId</Code></Error>", true),
        (403, [:], "<ErrorResponse><Error><Code>InvalidClientTokenId</Code></Error></ErrorResponse>", true),
        (400, [:], #"{"__type":"com.amazon.coral.service#UnrecognizedClientException"}"#, true),
        (400, ["x-amzn-ErrorType": "ExpiredTokenException:http://internal.amazon.com/"], "{}", true),
        // After a HEAD, and before a stream is read.
        (400, [:], "", true), (400, [:], nil, true), (403, [:], "", true), (403, [:], nil, true),
        (403, [:], "<Error><Code>AccessDenied</Code></Error>", false),
        (403, [:], "<Error><Code>SignatureDoesNotMatch</Code></Error>", false),
        (403, [:], "<Error><Code>RequestTimeTooSkewed</Code></Error>", false),
        (400, [:], #"{"__type":"ValidationException"}"#, false),
        (404, [:], "<Error><Code>ExpiredToken</Code></Error>", false),
    ]

    @Test func `refusals without a reason drop the credentials once a minute`() async throws {
        let (calls, now) = (Counter(), SharedValue(Date(timeIntervalSince1970: 0)))
        let provider = AWSCredentials.Provider {
            calls.next()
            return AWSCredentials(accessKey: "A", secretKey: "s")
        }
        let state = AWSState(provider) { now.withLock { $0 } }
        for seconds in [0, 1, 59, 61] {
            now.withLock { $0 = Date(timeIntervalSince1970: Double(seconds)) }
            _ = try await state.credentials(for: HTTPRequest())
            #expect(!state.learn(from: HTTPResponse(request: try Self.request(by: "A"), status: .forbidden)))
        }
        _ = try await state.credentials(for: HTTPRequest())
        #expect(calls.value == 3)
    }

    @Test(arguments: refusals.indices) func `only a refusal of the credentials drops them`(index: Int) async throws {
        let (status, headers, body, isDropped) = Self.refusals[index]
        let calls = Counter()
        let provider = AWSCredentials.Provider {
            calls.next()
            return AWSCredentials(accessKey: "A", secretKey: "s")
        }
        let state = AWSState(provider) { Date(timeIntervalSince1970: 0) }
        _ = try await state.credentials(for: HTTPRequest())
        let received = body.map { HTTPResponseBody(Data($0.utf8)) }
        let stream = HTTPResponseBody(length: nil, pull: { nil })
        let response = HTTPResponse(
            request: try Self.request(by: "A"), status: status, headers: headers, body: received ?? stream)
        #expect(!state.learn(from: response))
        _ = try await state.credentials(for: HTTPRequest())
        #expect(calls.value == (isDropped ? 2 : 1))
    }

    /// A request that is signed with a key.
    private static func request(by key: String) throws -> HTTPRequest {
        var request = try HTTPRequest("https://s3.test/a")
        request.headers[.authorization] = "AWS4-HMAC-SHA256 Credential=\(key)/20260131/r/s3/aws4_request, Signature=0"
        return request
    }

    @Test func `late refusals of a revoked key don't drop the next one`() async throws {
        let calls = Counter()
        let provider = AWSCredentials.Provider {
            let number = calls.next()
            return AWSCredentials(accessKey: "KEY\(number)", secretKey: "s")
        }
        let state = AWSState(provider) { Date(timeIntervalSince1970: 0) }
        for key in ["KEY1", "KEY1", "KEY1", "KEY", ""] {
            _ = try await state.credentials(for: HTTPRequest())
            for body in ["<Error><Code>InvalidAccessKeyId</Code></Error>", ""] {
                let response = HTTPResponse(
                    request: try Self.request(by: key), status: .forbidden,
                    body: HTTPResponseBody(Data(body.utf8)))
                #expect(!state.learn(from: response))
            }
        }
        #expect(try await state.credentials(for: HTTPRequest()).accessKey == "KEY2")
    }

    @Test func `secrets are not printed`() async throws {
        let credentials = AWSCredentials(accessKey: "AKID", secretKey: "top secret", sessionToken: "for now")
        let signer = AWSSigner(service: "s3", region: "r", credentials: .fixed(credentials))
        var request = try HTTPRequest("https://bucket.s3.amazonaws.com/a")
        try await signer.sign(&request, body: SignedBody())
        var text = "\(credentials) \(signer) \(request)"
        dump((credentials, signer, request), to: &text)
        let link = try await signer.presignedURL(for: request, expiresIn: .seconds(60))
        text += "\(HTTPRequest(url: link))"
        dump(HTTPRequest(url: link), to: &text)
        #expect(!text.contains("top secret") && !text.contains("for now") && !text.contains("for%20now"))
        let signature = try #require(HTTPRequest(url: link).query["X-Amz-Signature"])
        #expect(!text.contains(signature) && !text.contains("AWS4-HMAC-SHA256 Cred") && !text.contains("AKID/"))
    }
}
