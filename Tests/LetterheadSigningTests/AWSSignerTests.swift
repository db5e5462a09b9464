// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

/// Signatures with the values of AWS's test suite and of the documentation of S3.
@Suite struct AWSSignerTests {
    private func signer(
        _ service: String = "s3", at date: String = "2013-05-24T00:00:00Z", token: Secret? = nil
    ) throws -> AWSSigner {
        let now = try Date(date, strategy: .iso8601)
        let key = service == "s3" ? "AKIAIOSFODNN7EXAMPLE" : "AKIDEXAMPLE"
        let credentials = AWSCredentials(accessKey: key, secretKey: Self.secret(service), sessionToken: token)
        return AWSSigner(service: service, region: "us-east-1", credentials: .fixed(credentials)) { now }
    }

    private func authorization(of request: HTTPRequest, by signer: AWSSigner) async throws -> String {
        var signed = request
        try await signer.sign(&signed, body: SignedBody(request, need: signer.bodyNeed(for: request)))
        return try #require(signed.headers[.authorization])
    }

    private func request(_ vector: AWSVector) -> HTTPRequest {
        var request = HTTPRequest(method: HTTPMethod(rawValue: vector.method), host: "example.amazonaws.com")
        let parts = vector.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        request.path = RequestPath(escaped: String(parts[0]), route: nil)
        if parts.count > 1 { request.query = QueryParameters(escaped: String(parts[1])) }
        for (name, value) in vector.headers { request.headers.append(HTTPHeaders.Name(name), value) }
        return request
    }

    /// The test suite doesn't cover the hash of the body in a header, which the signer adds.
    private func signature(of request: HTTPRequest, token: String? = nil) async throws -> String {
        var request = request
        request.headers["X-Amz-Date"] = "20150830T123600Z"
        request.headers["X-Amz-Security-Token"] = token
        let hash = Hexadecimal.text(try await SignedBody(request, need: .digest).digest ?? [])
        let scope = "20150830/us-east-1/service/aws4_request"
        let key = AWSState(.environment, now: { Date() }).key(scope, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
        let seal = AWSSeal(time: "20150830T123600Z", scope: scope) { HMAC.sha256($0, key: key) }
        return seal.signature(of: AWSCanonicalRequest(request, isS3: false, payload: hash))
    }

    @Test(arguments: AWSVector.suite) func `the signature of the test suite is computed`(vector: AWSVector) async throws
    {
        #expect(try await signature(of: request(vector), token: vector.token) == vector.signature)
    }

    @Test(arguments: AWSVector.suite.filter { $0.linkSignature != nil })
    func `the link of the test suite is written`(vector: AWSVector) async throws {
        let signer = try signer("service", at: "2015-08-30T12:36:00Z", token: vector.token.map { Secret($0) })
        let url = try await signer.presignedURL(for: request(vector), expiresIn: .seconds(3600))
        #expect(url.absoluteString.hasSuffix("X-Amz-Signature=\(vector.linkSignature ?? "")"))
    }

    @Test func `a form has the signature of the test suite`() async throws {
        var request = try HTTPRequest(method: .post, "https://example.amazonaws.com/")
        request.body = DataBody(Data("Param1=value1".utf8), contentType: "application/x-www-form-urlencoded")
        let signature = try await signature(of: request)
        #expect(signature == "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a")
    }

    @Test(arguments: [
        ("test.txt", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        ("?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]) func `a request to S3 has the signature of its documentation`(target: String, signature: String) async throws {
        var request = try HTTPRequest("https://examplebucket.s3.amazonaws.com/\(target)")
        if target == "test.txt" { request.headers[.range] = "bytes=0-9" }
        let value = try await authorization(of: request, by: signer())
        #expect(value.hasSuffix("Signature=\(signature)"))
        #expect(
            value.contains("Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;"))
    }

    @Test func `an upload to S3 has the signature of its documentation, whose path is escaped once`() async throws {
        var request = try HTTPRequest(method: .put, "https://examplebucket.s3.amazonaws.com/test$file.text")
        request.headers[.date] = "Fri, 24 May 2013 00:00:00 GMT"
        request.headers["x-amz-storage-class"] = "REDUCED_REDUNDANCY"
        request.body = DataBody(Data("Welcome to Amazon S3.".utf8), contentType: nil)
        let value = try await authorization(of: request, by: signer())
        #expect(value.hasSuffix("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
    }

    @Test func `a presigned link has the signature of the documentation of S3`() async throws {
        let request = try HTTPRequest("https://examplebucket.s3.amazonaws.com/test.txt")
        let url = try await signer().presignedURL(for: request, expiresIn: .seconds(86_400))
        let signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        #expect(
            url.absoluteString.hasSuffix("X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=\(signature)"))
    }

    @Test(arguments: [0, -1, 604_801]) func `a link can't expire out of range`(seconds: Int) async throws {
        let (signer, request) = (try signer(), try HTTPRequest("https://bucket.s3.amazonaws.com/a"))
        let error = await #expect(throws: HTTPError.self) {
            try await signer.presignedURL(for: request, expiresIn: .seconds(seconds))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `a link is not signed twice, and a second link is refused by the name of the part`() async throws {
        let signer = try signer()
        let url = try await signer.presignedURL(
            for: HTTPRequest("https://bucket.s3.amazonaws.com/a"), expiresIn: .seconds(60))
        var request = HTTPRequest(url: url)
        try await signer.sign(&request, body: SignedBody())
        #expect(request.headers.isEmpty && request.target == HTTPRequest(url: url).target)
        let error = await #expect(throws: HTTPError.self) {
            try await signer.presignedURL(for: HTTPRequest(url: url), expiresIn: .seconds(60))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message == "the URL has an X-Amz-Signature already (pass the URL without its signature)")
    }

    /// What is sent is what is signed, in a header and in a link.
    @Test(arguments: [
        ("https://b.s3.amazonaws.com/b/C++.txt", "https://b.s3.amazonaws.com/b/C%2B%2B.txt"),
        ("https://b.s3.amazonaws.com/a?q=1+2&%2B+=%ff+/&f", "https://b.s3.amazonaws.com/a?q=1%2B2&%2B%2B=%FF%2B%2F&f"),
        ("https://b.s3.amazonaws.com:443/a", "https://b.s3.amazonaws.com/a"),
        ("http://127.0.0.1:80/a", "http://127.0.0.1/a"), ("http://127.0.0.1:443/a", "http://127.0.0.1:443/a"),
    ]) func `a plus sign and a default port are written in one form`(url: String, sent: String) async throws {
        for service in ["s3", "execute-api"] {
            let signer = try signer(service)
            let mock = MockLoader { .ok($0) }
            var request = try HTTPRequest(url)
            request.query.setSecret("a+b", for: "secret")
            let form = sent + (sent.contains("?") ? "&" : "?") + "secret=a%2Bb"
            request.authentication = .signing(by: signer, allowedOrigins: [try #require(URL(string: url))])
            let (chain, original) = (Authenticate() --> mock, request)
            _ = try await chain.load(original)
            let received = try #require(mock.requests.first)
            #expect(try received.urlString() == form)
            #expect(received.isSignedOnce && received.query.first { $0.name == "secret" }?.isSecret == true)
            let value = try await authorization(of: HTTPRequest(form), by: signer)
            #expect(received.headers[.authorization] == value)
            let link = try await signer.presignedURL(for: original, expiresIn: .seconds(60)).absoluteString
            #expect(link.hasPrefix(form + "&X-Amz-Algorithm="))
            let other = try await signer.presignedURL(for: HTTPRequest(form), expiresIn: .seconds(60))
            #expect(other.absoluteString == link)
        }
    }

    @Test(arguments: [
        ("s3", "/a(1)!'*~%2f%c3@b,c;d:e=f&g$h", "/a%281%29%21%27%2A~%2f%c3%40b%2Cc%3Bd%3Ae%3Df%26g%24h"),
        ("execute-api", "/a(1):b", "/a(1):b"),
    ]) func `a key of S3 is sent with its escapes`(service: String, path: String, sent: String) async throws {
        var request = HTTPRequest(host: "b.s3.amazonaws.com")
        request.path = RequestPath(escaped: path, route: nil)
        try await signer(service).sign(&request, body: SignedBody(digest: []))
        #expect(request.path.string == sent)
    }

    @Test func `the path of a template keeps its route and its secrets`() async throws {
        var request = HTTPRequest(host: "b.s3.amazonaws.com", path: "C++/\("a+b")/\(secret: "to:ken")")
        try await signer().sign(&request, body: SignedBody(digest: []))
        #expect(request.path.string == "C%2B%2B/a%2Bb/to%3Aken" && request.path.route == "C++/{}/{}")
        #expect(!"\(request)".contains("ken"))
    }

    @Test(arguments: [
        ("aoss", "ba7816bf"), ("glacier", "ba7816bf"), ("vpc-lattice-svcs", "UNSIGNED-PAYLOAD"), ("s3", "ba7816bf"),
    ])
    func `every service gets its hash of the body, or the value of the request`(service: String, hash: String)
        async throws
    {
        let signer = try signer(service)
        var request = try HTTPRequest(method: .put, "https://a.example/a")
        request.body = DataBody(Data("abc".utf8), contentType: nil)
        var sent = request
        try await signer.sign(&sent, body: SignedBody(request, need: signer.bodyNeed(for: request)))
        #expect(sent.headers["X-Amz-Content-SHA256"]?.hasPrefix(hash) == true)
        #expect(sent.headers[.authorization]?.contains(";x-amz-content-sha256;") == true)
        request.headers["X-Amz-Content-SHA256"] = "UNSIGNED-PAYLOAD"
        request.body = StreamBody(once: AsyncStream<Data> { $0.finish() })
        #expect(signer.bodyNeed(for: request) == .nothing)
        sent = request
        try await signer.sign(&sent, body: SignedBody())
        #expect(sent.headers["X-Amz-Content-SHA256"] == "UNSIGNED-PAYLOAD")
        request.headers[.authorization] = nil
        request.headers["X-Amz-Date"] = "20130524T000000Z"
        let canonical = AWSCanonicalRequest(request, isS3: service == "s3", payload: "UNSIGNED-PAYLOAD")
        let scope = "20130524/us-east-1/\(service)/aws4_request"
        let seal = AWSSeal(time: "20130524T000000Z", scope: scope) { [key = signer.state] in
            HMAC.sha256($0, key: key.key(scope, Self.secret(service)))
        }
        #expect(sent.headers[.authorization]?.hasSuffix(seal.signature(of: canonical)) == true)
    }

    @Test func `no body is part of a link for VPC Lattice`() async throws {
        let signer = try signer("vpc-lattice-svcs")
        var request = try HTTPRequest(method: .put, "https://a.example/a")
        let link = try await signer.presignedURL(for: request, expiresIn: .seconds(60))
        request.body = StreamBody(once: AsyncStream<Data> { $0.finish() })
        #expect(try await signer.presignedURL(for: request, expiresIn: .seconds(60)) == link)
    }

    private static func secret(_ service: String) -> Secret {
        service == "s3" ? "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" : "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    }

    @Test func `metadata of S3 that isn't ASCII is refused by name`() async throws {
        var request = try HTTPRequest(method: .put, "https://b.s3.amazonaws.com/a")
        request.headers["X-Amz-Meta-Author"] = "\u{E9}"
        for service in ["s3", "dynamodb"] {
            let mock = MockLoader { .ok($0) }
            request.authentication = .signing(by: try signer(service))
            let (chain, sent) = (Authenticate() --> mock, request)
            guard service == "s3" else {
                _ = try await chain.load(sent)
                continue
            }
            let error = await failure { try await chain.load(sent) }
            #expect(error?.code == .invalidRequest && mock.requests.isEmpty)
            let rule = "the header X-Amz-Meta-Author has characters that aren't ASCII, which S3 refuses (escape them)"
            #expect(error?.message == rule)
        }
    }

    @Test(arguments: [
        ("/a//b/../c", true, "/a//b/../c"), ("/a%2fb(1)%20%7e", true, "/a/b%281%29%20~"), ("", true, "/"),
        ("/a/./b/", false, "/a/b/"), ("/a/b/..", false, "/a/"), ("/a/..", false, "/"), ("/../a/.", false, "/a/"),
        ("/...", false, "/..."), ("", false, "/"), ("/a..", false, "/a.."), ("a/x%20y", false, "/a/x%2520y"),
    ]) func `S3's paths are not normalized, and those of other services are, and escaped again`(
        path: String, isS3: Bool, canonical: String
    ) {
        let request = HTTPRequest(host: "b.amazonaws.com", path: RequestPath(escaped: path, route: nil))
        #expect(AWSCanonicalRequest(request, isS3: isS3).text.hasPrefix("GET\n\(canonical)\n\n"))
    }

    /// The values come from another implementation.
    @Test(arguments: [
        (
            "s3tables",
            "https://s3tables.us-east-1.amazonaws.com/buckets/arn%3Aaws%3As3tables%3Aus-east-1%3A1%3Abucket%2Fb",
            "e3c106733f2cf258eda220b83196bbda8675db79f64338a35536077f1ad2384d"
        ),
        (
            "s3-outposts", "https://o.example/a//b/../c%20d",
            "11c9c3c93264e3d11082c814220b4e8ed777963dd9880945625e41fcee6fc5bd"
        ),
    ]) func `only some services with S3 in their name follow its rules`(service: String, url: String, signature: String)
        async throws
    {
        let signer = try signer(service, at: "2015-08-30T12:36:00Z")
        #expect(try await authorization(of: HTTPRequest(url), by: signer).hasSuffix(signature))
    }

    @Test(arguments: [
        ("a=1+2", "a=1%2B2"), ("b=&a", "a=&b="), ("b=2&b=1&B=0", "B=0&b=1&b=2"), ("a=b=c", "a=b%3Dc"),
        ("a=%2b%7E%ff&&", "a=%2B~%FF"), ("%61=%zz", "a=%25zz"), ("=", "="),
    ]) func `a query is sorted and escaped`(query: String, canonical: String) {
        var request = HTTPRequest(host: "bucket.s3.amazonaws.com")
        request.query = QueryParameters(escaped: query)
        #expect(AWSCanonicalRequest(request, isS3: true).text.hasPrefix("GET\n/\n\(canonical)\n"))
    }

    @Test func `a stream to S3 is not read, and one to another service is refused`() async throws {
        let stream = StreamBody(once: AsyncStream<Data> { $0.finish() })
        var request = try HTTPRequest(method: .put, "https://bucket.s3.amazonaws.com/a")
        request.body = stream
        var signed = request
        let signer = try signer()
        try await signer.sign(&signed, body: SignedBody(request, need: signer.bodyNeed(for: request)))
        #expect(signed.headers["X-Amz-Content-SHA256"] == "UNSIGNED-PAYLOAD")
        let mock = MockLoader { .ok($0) }
        let method = HTTPAuthentication.signing(by: try self.signer("execute-api"))
        let chain = Authenticate() --> mock
        var other = try HTTPRequest(method: .put, "https://api.example.com/a")
        (other.body, other.authentication) = (stream, method)
        let error = await failure { [other] in try await chain.load(other) }
        #expect(error?.code == .cannotAuthenticate && error?.message.contains("read only once") == true)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a signer that signs past midnight changes the date and the key together`() async throws {
        let now = SharedValue(try Date("2013-05-23T23:59:59Z", strategy: .iso8601))
        let credentials = AWSCredentials(accessKey: "AKID", secretKey: "secret")
        let signer = AWSSigner(service: "s3", region: "r", credentials: .fixed(credentials)) { now.withLock { $0 } }
        let request = try HTTPRequest("https://bucket.s3.amazonaws.com/a")
        let before = try await authorization(of: request, by: signer)
        #expect(before.contains("Credential=AKID/20130523/r/s3/"))
        now.withLock { $0 += 1 }
        let next = AWSSigner(service: "s3", region: "r", credentials: .fixed(credentials)) { now.withLock { $0 } }
        let after = try await authorization(of: request, by: signer)
        #expect(after.contains("Credential=AKID/20130524/r/s3/"))
        #expect(try await authorization(of: request, by: next) == after)
    }

    @Test(arguments: [
        "other.example", "bucket.s3.amazonaws.com.evil.test", "s3.eu-west-1.amazonaws.com.evil.test",
        "other.s3.amazonaws.com", "bucket.s3.eu-west-1.amazonaws.com", "bucket.s3.eu-west-1.example.com",
    ])
    func `a hop to another origin has nothing of the signature`(host: String) async throws {
        let mock = MockLoader()
            .then { HTTPResponse(request: $0, status: 307, headers: ["Location": "https://\(host)/"]) }
            .then { HTTPResponse(request: $0, status: .ok) }
        var request = try HTTPRequest("https://bucket.s3.amazonaws.com/a")
        request.authentication = .signing(by: try signer(token: "for now"))
        _ = try await HTTPClient(transport: mock).send(request)
        #expect(mock.requests.map { $0.headers.contains { $0.name.rawValue.hasPrefix("X-Amz-") } } == [true, false])
        #expect(mock.requests.map { $0.headers.contains(.authorization) } == [true, false])
    }

    @Test func `the server's time is learned once from a refusal`() async throws {
        let mock = MockLoader { request in
            let isCurrent = request.headers["X-Amz-Date"] == "20130524T010000Z"
            return HTTPResponse(
                request: request, status: isCurrent ? 200 : 403, headers: ["Date": "Fri, 24 May 2013 01:00:00 GMT"])
        }
        let client = HTTPClient(transport: mock)
        var request = try HTTPRequest("https://bucket.s3.amazonaws.com/a")
        request.authentication = .signing(by: try signer())
        for _ in 1...2 { _ = try await client.send(request) }
        #expect(
            mock.requests.map { $0.headers["X-Amz-Date"] }
                == ["20130524T000000Z", "20130524T010000Z", "20130524T010000Z"])
    }

    @Test(arguments: [
        ("Sat, 25 May 2013 00:00:00 GMT", nil, 2), ("Sat, 25 May 2013 00:00:01 GMT", nil, 1),
        ("Wed, 22 May 2013 23:59:59 GMT", nil, 1), ("Fri, 31 Dec 9999 23:59:59 GMT", nil, 1),
        ("Fri, 24 May 2013 01:00:00 GMT", "5", 1), ("Fri, 24 May 2013 00:03:00 GMT", nil, 1),
    ]) func `a time that is right, far away or stored teaches nothing`(date: String, age: String?, count: Int)
        async throws
    {
        let mock = MockLoader { request in
            var response = HTTPResponse(request: request, status: 403, headers: ["Date": date])
            response.headers[.age] = age
            return response
        }
        var request = try HTTPRequest("https://bucket.s3.amazonaws.com/a")
        request.authentication = .signing(by: try signer())
        let (chain, sent) = (Authenticate() --> mock, request)
        #expect(try await chain.load(sent).status == 403 && mock.requests.count == count)
    }

    @Test func `the time of an origin dates only its own signatures`() async throws {
        let mock = MockLoader { request in
            let isLate = request.host == "a.example"
            return HTTPResponse(
                request: request, status: isLate ? 403 : 200, headers: ["Date": "Fri, 24 May 2013 01:00:00 GMT"])
        }
        let signer = try signer()
        let urls = ["https://a.example/", "https://b.example/"].compactMap(URL.init)
        for url in urls {
            var request = HTTPRequest(url: url)
            request.authentication = .signing(by: signer, allowedOrigins: urls)
            let (chain, sent) = (Authenticate() --> mock, request)
            _ = try await chain.load(sent)
        }
        let dates = mock.requests.map { $0.headers["X-Amz-Date"] }
        #expect(dates == ["20130524T000000Z", "20130524T010000Z", "20130524T000000Z"])
    }

    @Test func `a learned time that can't be written is forgotten`() async throws {
        let now = SharedValue(try Date("9999-12-31T22:00:00Z", strategy: .iso8601))
        let state = AWSState(.environment) { now.withLock { $0 } }
        var request = try HTTPRequest("https://a.example/")
        request.headers["X-Amz-Date"] = "99991231T220000Z"
        let headers: HTTPHeaders = ["Date": "Fri, 31 Dec 9999 23:30:00 GMT"]
        #expect(state.learn(from: HTTPResponse(request: request, status: .forbidden, headers: headers)))
        #expect(try state.time(at: request.origin) == "99991231T233000Z")
        now.withLock { $0 += 3_600 }
        #expect(try state.time(at: request.origin) == "99991231T230000Z")
        now.withLock { $0 -= 3_600 }
        #expect(try state.time(at: request.origin) == "99991231T220000Z")
    }

    @Test(arguments: [
        (
            HTTPMethod.post, HTTPStatus.ok, "  \n<?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code></Error>",
            true
        ),
        (.put, .ok, "<Error><Code>SlowDown</Code></Error>", true),
        (.post, .ok, "<DeleteResult><Error><Code>AccessDenied</Code></Error></DeleteResult>", false),
        (.put, .ok, "", false), (.get, .ok, "<Error></Error>", false), (.post, .created, "<Error></Error>", false),
    ]) func `a 200 with an error of S3 is a failure`(
        method: HTTPMethod, status: HTTPStatus, body: String, isFailure: Bool
    ) async throws {
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: status, headers: ["Content-Type": "application/xml"],
                body: HTTPResponseBody(Data(body.utf8)))
        }
        for service in ["s3", "execute-api"] {
            let client = HTTPClient(transport: mock)
            var request = try HTTPRequest(method: method, "https://b.s3.amazonaws.com/a")
            request.authentication = .signing(by: try signer(service))
            let sent = request
            guard isFailure, service == "s3" else {
                _ = try await client.send(sent)
                continue
            }
            let error = await failure { try await client.send(sent) }
            #expect(error?.code == .reportedFailure && error?.response?.status == .ok)
            let code = body.contains("SlowDown") ? "SlowDown" : "InternalError"
            #expect(
                error?.description.hasSuffix("the body contains an AWS error; the server wrote \"\(code)\"") == true)
        }
    }

    /// The policy is that of the documentation of S3, with the fields that the signer adds.
    @Test func `a form has a policy with each of its fields`() async throws {
        let signer = try signer(token: "for now")
        let url = try #require(URL(string: "https://b.s3.amazonaws.com/"))
        let form = try await signer.presignedForm(
            to: url, bucket: "b", key: "user/eric/${filename}", fields: ["acl": "public-read"], length: 1...10,
            expiresIn: .seconds(60))
        let policy = String(decoding: Data(base64Encoded: form.fields["policy"] ?? "") ?? Data(), as: UTF8.self)
        let credential = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"
        #expect(
            policy == #"{"conditions":[{"acl":"public-read"},{"x-amz-algorithm":"AWS4-HMAC-SHA256"},"#
                + #"{"x-amz-credential":"\#(credential)"},{"x-amz-date":"20130524T000000Z"},"#
                + #"{"x-amz-security-token":"for now"},["starts-with","$key","user/eric/"],{"bucket":"b"},"#
                + #"["content-length-range",1,10]],"expiration":"2013-05-24T00:01:00Z"}"#)
        // The signature that S3SigV4PostAuth of botocore writes for this policy.
        let signature = "f4ef3c3ae09067ffa0115820a70a131acd31989c3a71738a1cd56f283a7dcc2f"
        #expect(form.fields["x-amz-signature"] == signature && form.fields["key"] == "user/eric/${filename}")
        var text = "\(form)"
        dump(form, to: &text)
        #expect(!text.contains(signature) && !text.contains("for now") && text.contains("x-amz-signature"))
        for (fields, length, rule) in [
            (["Policy": ""], 0...1, "the signer sets the form field Policy itself (remove it from fields)"),
            ([:], -1...1, "the lower bound of length is negative (use 0 or more)"),
        ] {
            let error = await #expect(throws: HTTPError.self) {
                try await signer.presignedForm(
                    to: url, bucket: "b", key: "k", fields: fields, length: length, expiresIn: .seconds(60))
            }
            #expect(error?.code == .invalidRequest && error?.message == rule)
        }
    }
}
