import Foundation
import Letterhead
import LetterheadTesting
import Testing

private struct Limits<Time: Sendable, Count: Sendable>: RequestTemplate {
    let path: RequestPath = "a"
    var idleTimeout: Time
    var responseLimit: Count
}

private struct Connecting: RequestTemplate {
    let path: RequestPath = "a"
    let connectTimeout = Duration.seconds(1)
}

private struct Retries: RequestTemplate {
    let path: RequestPath = "a"
    let maximumRetries: Int?
}

private struct Authentication: RequestTemplate {
    let path: RequestPath = "a"
    var authentication: HTTPAuthentication { .bearer("secret") }
}

private struct Scopes: RequestTemplate {
    let path: RequestPath = "a"
    let requiredScopes: Set<String> = ["a"]
}

private struct SecretBody: RequestTemplate {
    let path: RequestPath = "a"
    var isSecret: Bool { true }
}

private struct Validators<Validator: Sendable>: RequestTemplate {
    let path: RequestPath = "a"
    var validators: [Validator] { [] }
}

private struct Transformers: RequestTemplate {
    let path: RequestPath = "a"
    let responseTransformers: [ModifyResponse] = []
}

private struct Strategy: RequestTemplate {
    let path: RequestPath = "a"
    let retryStrategy: HTTPRetryStrategy? = .exponential
}

private struct Decoder<Decoder: Sendable>: RequestTemplate {
    let path: RequestPath = "a"
    var decoder: Decoder
}

private struct Delivery: RequestTemplate {
    let path: RequestPath = "a"
    let responseDelivery = ResponseDelivery.streamed
}

private struct CustomValidator: HTTPValidator {
    func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        .nextValidator
    }
}

private struct CustomDecoder: HTTPBodyDecoder {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        throw HTTPBodyError.withheld
    }
}

private struct Redacted: RequestTemplate {
    let path: RequestPath = "a"
    let redaction = Redaction.standard
}

private struct Server: RequestTemplate {
    let path: RequestPath = "a"
    let serverEnvironment: ServerEnvironment? = nil
}

private struct Redirects: RequestTemplate {
    let path: RequestPath = "a"
    let redirectPolicy: RedirectPolicy? = nil
}

private struct Marked: RequestTemplate {
    let path: RequestPath = "a"
    let isIdempotent = true
}

private struct Shared: RequestTemplate {
    let path: RequestPath = "a"
    let deduplication = Deduplication.never
}

private struct Throttled: RequestTemplate {
    let path: RequestPath = "a"
    let throttling: Throttling? = nil
}

private struct ObservedRetries: RequestTemplate {
    let path: RequestPath = "a"
    let onRetry: @Sendable (RetryContext) async -> Void = { _ in }
}

private struct Progress: RequestTemplate {
    let path: RequestPath = "a"
    let onProgress: (@Sendable (TransferProgress) -> Void)? = nil
}

private struct Reported: RequestTemplate {
    let path: RequestPath = "a"
    let progressReport: ProgressUpdates? = nil
}

/// A template that uses the names of settings for what is its own.
private struct OwnValues: RequestTemplate {
    let path: RequestPath = "a"
    let idleTimeout: Int = 1
    let responseLimit: String = "2"
    let authentication: String = "basic"
    let validators: [String] = []
    let decoder: String = "h264"
    let throttling: Double? = 0.5
    let onProgress: String = "x"
    var query: QueryParameters { ["idle": idleTimeout, "decoder": decoder] }
}

/// A setting that is declared as a member of a template would be ignored.
@Suite struct TemplateSettingsTests {
    private static let templates: [(template: any RequestTemplate, member: String, remedy: String)] = [
        (Connecting(), "connectTimeout", ".connectTimeout(…)"),
        (Limits(idleTimeout: Duration.seconds(1), responseLimit: "x"), "idleTimeout", ".idleTimeout(…)"),
        (Limits(idleTimeout: Duration?.none, responseLimit: 1), "idleTimeout", ".idleTimeout(…)"),
        (Limits(idleTimeout: 1, responseLimit: 1), "responseLimit", ".responseLimit(…)"),
        (Retries(maximumRetries: 1), "maximumRetries", ".maximumRetries(…)"),
        (Authentication(), "authentication", ".authenticated(by: …)"),
        (Scopes(), "requiredScopes", ".authenticated(scopes: …)"),
        (SecretBody(), "isSecret", ".secret()"),
        (Validators<any HTTPValidator>(), "validators", ".validated(by: …)"),
        (Validators<DefaultValidator>(), "validators", ".validated(by: …)"),
        (Validators<CustomValidator>(), "validators", ".validated(by: …)"),
        (Transformers(), "responseTransformers", ".transformed(by: …)"),
        (Strategy(), "retryStrategy", ".retry(…)"),
        (Decoder(decoder: JSONDecoder()), "decoder", ".decoder(…)"),
        (Decoder<JSONDecoder?>(decoder: nil), "decoder", ".decoder(…)"),
        (Decoder<any HTTPBodyDecoder>(decoder: JSONDecoder()), "decoder", ".decoder(…)"),
        (Decoder<(any HTTPBodyDecoder)?>(decoder: nil), "decoder", ".decoder(…)"),
        (Decoder<CustomDecoder?>(decoder: nil), "decoder", ".decoder(…)"),
        (Delivery(), "responseDelivery", "stream(_:)"),
        (Redacted(), "redaction", ".redaction(…)"),
        (Server(), "serverEnvironment", ".environment(…)"),
        (Redirects(), "redirectPolicy", ".redirects(…)"),
        (Marked(), "isIdempotent", ".idempotent()"),
        (Shared(), "deduplication", ".deduplication(…)"),
        (Throttled(), "throttling", ".throttling(…)"),
        (ObservedRetries(), "onRetry", ".onRetry { … }"),
        (Progress(), "onProgress", ".onProgress { … }"),
        (Reported(), "progressReport", ".onProgress(…)"),
    ]

    @Test(arguments: templates.indices)
    func `a setting that is declared as a member is refused, and the error names the member and the remedy`(index: Int)
        throws
    {
        let (template, member, remedy) = Self.templates[index]
        func error(of template: some RequestTemplate) throws -> HTTPError {
            try #require(throws: HTTPError.self) { try StandardRequestBuilder(template).request() }
        }
        func decorated(_ template: some RequestTemplate) throws -> HTTPError {
            try error(of: template.header("X", "1").timeout(.seconds(1)))
        }
        let found = try error(of: template)
        #expect(found.code == .invalidRequest)
        #expect(found.message.hasPrefix("the member \(member) of "))
        #expect(found.message.contains(remedy))
        #expect(try decorated(template).message == found.message)
    }

    @Test func `a template may use the names of settings for values of other types`() throws {
        #expect(try StandardRequestBuilder(OwnValues()).request().target == "/a?idle=1&decoder=h264")
    }

    @Test func `the modifiers of these settings can be written where a template declares none`() throws {
        let template = Endpoint("a").idleTimeout(.seconds(1)).responseLimit(3).maximumRetries(1).redaction(.standard)
            .decoder(JSONDecoder()).retry(.exponential).validated(by: DefaultValidator()).onRetry { _ in }
            .onProgress { (_: TransferProgress) in }
        #expect(try StandardRequestBuilder(template).request().responseLimit == 3)
    }
}
