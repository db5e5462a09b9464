// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadRecording
import LetterheadTesting
import TestKit
import Testing

@Suite struct RequestSnapshotTests {
    private let stubs = StubLoader().on(.any(), times: .any) { _ in .status(.ok) }

    private func sent(_ template: some RequestTemplate) async throws -> HTTPRequest {
        _ = try? await HTTPClient.over(stubs).send(template)
        return stubs.requests[0]
    }

    @Test func `a request is shown as it would be sent, without secrets and volatile values`() async throws {
        let request = try await sent(
            CreatePerson(person: .ada).query("api_key", "s3cret").header("Authorization", "Bearer s3cret")
                .header("Idempotency-Key", "k\(UUID())"))
        #expect(
            try RequestSnapshot(request).text == """
                POST https://api.test/v1/people?api_key=REDACTED HTTP/1.1
                Authorization: REDACTED
                Idempotency-Key: VOLATILE
                Accept: application/json, application/problem+json
                Content-Type: application/json

                {
                  "id" : 1,
                  "login" : "ada"
                }

                """)
    }

    @Test func `a curl command has one option on each line, without secrets and volatile values`() async throws {
        let request = try await sent(
            CreatePerson(person: Person(id: 1, login: "it's --ada")).query("api_key", "s3cret")
                .header("Authorization", "Bearer s3cret").header("Idempotency-Key", "k\(UUID())")
                .header("X-Amzn-Trace-Id", "\(UUID())"))
        #expect(
            try RequestSnapshot(request, as: "curl") { $0.curlCommand(onLines: true) }.text == #"""
                curl \
                  --request POST \
                  --data-raw '{
                  "id" : 1,
                  "login" : "it'\''s --ada"
                }' \
                  --header 'Authorization: REDACTED' \
                  --header 'Idempotency-Key: VOLATILE' \
                  --header 'X-Amzn-Trace-Id: VOLATILE' \
                  --header 'Accept: application/json, application/problem+json' \
                  --header 'Content-Type: application/json' \
                  --header User-Agent: \
                  --header Expect: \
                  'https://api.test/v1/people?api_key=REDACTED'

                """#)
    }

    @Test func `the curl command of a multipart body is the same in each run`() throws {
        let texts = try [
            MultipartBody.Part.data(Data([0, 159, 255]), name: "f", filename: "b.bin"), .text("hi", name: "note"),
        ]
        .flatMap { part in
            try [0, 1].map { _ in
                var request = try HTTPRequest(method: .post, "https://api.test/a")
                request.body = MultipartBody([part])
                return try RequestSnapshot(request, as: "curl") { $0.curlCommand(onLines: true) }.text
            }
        }
        #expect(texts[0] == texts[1] && texts[2] == texts[3])
        #expect(texts[0].contains("boundary=boundary") && texts[2].contains("\n  --form-string note=hi \\\n"))
    }

    @Test func `a multipart body has the same snapshot in each run`() throws {
        let bodies: [[MultipartBody.Part]] = [
            [.data(Data([0, 159, 255]), name: "f", filename: "b.bin")],
            [.text("hi", name: "note"), .text("s3cret", name: "password")],
        ]
        for parts in bodies {
            let texts = try [0, 1].map { _ in
                var request = try HTTPRequest(method: .post, "https://api.test/a")
                request.body = MultipartBody(parts)
                return try RequestSnapshot(request).text
            }
            #expect(texts[0] == texts[1] && !texts[0].contains("s3cret"))
            if parts.count == 2 { #expect(texts[0].contains("boundary=boundary")) }
        }
    }

    @Test func `a new snapshot fails once, an equal one passes, and a different one shows its lines`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "snapshots-\(UUID())/a.http")
        let snapshot = try RequestSnapshot(try await sent(GetPerson(login: "ada").header("X", "1")))
        #expect(throws: RecordingError.self) { try snapshot.check(against: file) }
        try snapshot.check(against: file)
        _ = try? await HTTPClient.over(stubs).send(GetPerson(login: "ada").header("X", "2"))
        let other = stubs.requests[1]
        let error = try #require(throws: RecordingError.self) { try RequestSnapshot(other).check(against: file) }
        #expect(error.description.contains("\n- X: 1\n+ X: 2\n"))
    }
}
