// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTransfers
import Synchronization
import TestKit
import Testing

/// What a part offers, and in which order parts can be read.
@Suite(.timeLimit(.minutes(2))) struct ResponsePartTests {
    struct User: Codable, Sendable, Hashable { var id: Int }

    private static let three = "--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b\r\n\r\nthree\r\n--b--"

    /// The only part of a response with this head and body.
    private func part(_ head: String, _ body: String = "") async throws -> ResponsePart {
        var parts = HTTPResponse.multipart("--b\r\n\(head)\r\n\(body)\r\n--b--").parts().makeAsyncIterator()
        return try #require(try await parts.next())
    }

    // MARK: Reading in order

    @Test func `the rest of a part is skipped`() async throws {
        let pieces = ["--b\r\n\r\nfirst ", "half", "\r\n--b\r\n\r\nnext\r\n--b--"].map { Data($0.utf8) }
        var parts = HTTPResponse.multipart(pieces).parts().makeAsyncIterator()
        var body = try await parts.next()?.body.makeAsyncIterator()
        #expect(try await body?.next() == Data("first ".utf8))
        #expect(try await parts.next()?.body.data() == Data("next".utf8))
    }

    @Test func `reading a part that was skipped is an error, and the next part can be read`() async throws {
        var parts = HTTPResponse.multipart(Self.three).parts().makeAsyncIterator()
        let first = try #require(try await parts.next())
        let second = try #require(try await parts.next())
        let error = await #expect(throws: HTTPError.self) { try await first.body.data() }
        #expect(error?.message == "part 1 was skipped, because the next part was requested before its end")
        #expect(try await second.body.data() == Data("two".utf8))
    }

    @Test func `a part can be read after its iterator was dropped`() async throws {
        var first: ResponsePart?
        for try await part in HTTPResponse.multipart(Self.three).parts() where first == nil {
            first = part
            break
        }
        #expect(try await first?.body.data() == Data("one".utf8))
    }

    @Test func `a part's body is read once`() async throws {
        let part = try await part("", "one")
        #expect(try await part.body.data() == Data("one".utf8))
        await #expect(throws: HTTPBodyError.alreadyRead) { try await part.body.data() }
    }

    @Test func `a part larger than its limit is an error, and the next part can be read`() async throws {
        var parts = HTTPResponse.multipart(Self.three).parts().makeAsyncIterator()
        let first = try #require(try await parts.next())
        await #expect(throws: HTTPBodyError.tooLarge(limit: 2)) { try await first.body.data(upTo: 2) }
        #expect(try await parts.next()?.body.data() == Data("two".utf8))
    }

    @Test func `a body in memory can be read again, and a streamed body can't`() async throws {
        var response = HTTPResponse.multipart(Self.three)
        #expect(await response.parts().readAll().parts.count == 3)
        #expect(await response.parts().readAll().error as? HTTPBodyError == .alreadyRead)
        response.body = HTTPResponseBody(Data(Self.three.utf8))
        for _ in 1...2 { #expect(await response.parts().readAll().parts.count == 3) }
    }

    // MARK: Faults

    @Test func `a body that fails ends its transfer, and each reader gets its error`() async throws {
        let (pulls, cancels) = (Counter(), Counter())
        var response = HTTPResponse.multipart("")
        response.body = HTTPResponseBody(
            length: nil,
            pull: {
                if pulls.next() == 1 { return Data("--b\r\n\r\none".utf8) }
                throw HTTPError(.connectionLost, request: HTTPRequest())
            }, cancel: { cancels.next() })
        var parts = response.parts().makeAsyncIterator()
        let part = try #require(try await parts.next())
        var errors: [HTTPError.Code?] = []
        do { _ = try await part.body.data() } catch { errors.append((error as? HTTPError)?.code) }
        do { _ = try await parts.next() } catch { errors.append((error as? HTTPError)?.code) }
        #expect(errors == [.connectionLost, .connectionLost])
        #expect(try await parts.next() == nil)
        #expect(cancels.value == 1 && pulls.value == 2)
    }

    @Test func `a malformed body ends its transfer, even if an earlier part still exists`() async throws {
        let cancels = Counter()
        var response = HTTPResponse.multipart("")
        response.body = HTTPResponseBody(
            length: nil, pull: { Data("--b\r\n\r\none\r\n--b\r\nmalformed\r\n\r\n".utf8) },
            cancel: { cancels.next() })
        var parts = response.parts().makeAsyncIterator()
        let first = try #require(try await parts.next())
        await #expect(throws: HTTPError.self) { try await parts.next() }
        #expect(cancels.value == 1)
        await #expect(throws: HTTPError.self) { try await first.body.data() }
    }

    @Test func `an error contains the head of the response`() async throws {
        let error = await HTTPResponse.multipart("--b").parts().readAll().error as? HTTPError
        #expect(error?.response?.headers[.contentType] == "multipart/mixed; boundary=b")
        #expect(error?.response?.body.length == 0)
    }

    @Test func `an endless epilogue ends the transfer`() async throws {
        let (pulls, cancels) = (Counter(), Counter())
        var response = HTTPResponse.multipart("")
        response.body = HTTPResponseBody(
            length: nil,
            pull: {
                pulls.next() == 1 ? Data("--b\r\n\r\none\r\n--b--\r\n".utf8) : Data(repeating: 0x61, count: 1024)
            }, cancel: { cancels.next() })
        #expect(await response.parts().readAll().parts == [ReadPart("one")])
        #expect(pulls.value == 17 && cancels.value == 1)
    }

    @Test func `a body that breaks off after the last delimiter is complete`() async throws {
        let pulls = Counter()
        var response = HTTPResponse.multipart("")
        response.body = HTTPResponseBody(
            length: nil,
            pull: {
                guard pulls.next() == 1 else { throw HTTPError(.connectionLost, request: HTTPRequest()) }
                return Data("--b\r\n\r\none\r\n--b--\r\n".utf8)
            })
        let all = await response.parts().readAll()
        #expect(all.parts == [ReadPart("one")] && all.error == nil)
    }

    @Test func `parts that are read at the same time are an error`() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (rest, add) = AsyncStream.makeStream(of: Data.self)
        let isFirst = Mutex(true)
        var response = HTTPResponse.multipart("")
        response.body = HTTPResponseBody(
            length: nil,
            pull: {
                if isFirst.withLock({ exchange(&$0, with: false) }) { return Data("--b\r\n\r\none".utf8) }
                begin.yield()
                for await piece in rest { return piece }
                return nil
            })
        var parts = response.parts().makeAsyncIterator()
        let part = try #require(try await parts.next())
        let reading = Task { try await part.body.data() }
        for await _ in begun { break }
        do {
            _ = try await parts.next()
            Issue.record("the next part was read during the first")
        } catch let error as HTTPError {
            #expect(error.message.hasPrefix("several tasks read a multipart response at the same time"))
        }
        add.yield(Data(" half\r\n--b--".utf8))
        add.finish()
        #expect(try await reading.value == Data("one half".utf8))
    }

    // MARK: Contents

    @Test func `a part is decoded by its request's decoder`() async throws {
        #expect(try await part("", #"{"id":3}"#).decode(User.self) == User(id: 3))
        #expect(try await part("Content-Type: text/plain\r\n", "a").decode(String.self) == "a")
        let error = await #expect(throws: HTTPError.self) { try await part("", "{}").decode(User.self) }
        #expect(error?.code == .cannotDecodeResponse)
    }

    @Test(
        arguments: [
            ("form-data; name=\"a b\"", "a b"), ("Form-Data; filename=\"x\"; name=b", "b"),
            (#"form-data; name="a\"b%22c%0D%0A"; filename="x""#, "a\"b\"c\r\n"),
            ("form-data; name=\"\u{E9}\"", "\u{E9}"), ("form-data; name=\"\"", ""),
            ("form-data; filename=\"name=x\"", nil), ("attachment; name=\"a\"", nil), ("form-data", nil), ("", nil),
        ] as [(String, String?)])
    func `the name of a form's field is in Content-Disposition`(disposition: String, name: String?) async throws {
        #expect(try await part("Content-Disposition: \(disposition)\r\n").name == name)
    }

    // MARK: Batches

    /// A batch as Google's APIs describe it.
    @Test func `the responses of a batch have a status, fields and a body`() async throws {
        let batch = """
            --batch_foobarbaz
            Content-Type: application/http
            Content-ID: <response-item1:12930812@barnyard.example.com>

            HTTP/1.1 200 OK
            Content-Type: application/json
            Content-Length: 8
            ETag: "etag/pony"

            {"id":1}
            --batch_foobarbaz
            Content-Type: application/http
            Content-ID: <response-item2:12930812@barnyard.example.com>

            HTTP/1.1 304 Not Modified
            ETag: "etag/animals"
            Content-Length: 99


            --batch_foobarbaz--

            """.replacingOccurrences(of: "\n", with: "\r\n")
        var read: [String] = []
        let response = HTTPResponse.multipart(batch, type: "multipart/mixed; boundary=batch_foobarbaz")
        for try await part in response.parts() {
            let inner = try await part.httpResponse()
            read.append(part.headers["Content-ID"] ?? "")
            read.append("\(inner.status.code) \(inner.headers[.eTag] ?? "")")
            if inner.status == .ok { #expect(try await inner.decode(User.self) == User(id: 1)) }
        }
        #expect(
            read == [
                "<response-item1:12930812@barnyard.example.com>", "200 \"etag/pony\"",
                "<response-item2:12930812@barnyard.example.com>", "304 \"etag/animals\"",
            ])
    }

    /// A batch of OData 4.0 with a change set.
    private static let changes = """
        --b
        Content-Type: application/http

        HTTP/1.1 200 OK

        {"id":1}
        --b
        Content-Type: multipart/mixed; boundary=b_changes

        --b_changes
        Content-Type: application/http
        Content-ID: 1

        HTTP/1.1 201 Created
        Location: /users/2

        {"id":2}
        --b_changes
        Content-Type: application/http
        Content-ID: 2

        HTTP/1.1 204 No Content


        --b_changes--
        --b
        Content-Type: application/http

        HTTP/1.1 404 Not Found
        Content-Length: 0


        --b--
        """.replacingOccurrences(of: "\n", with: "\r\n")

    @Test func `a part that is multipart is read in the same way`() async throws {
        var statuses: [[Int]] = []
        for try await part in HTTPResponse.multipart(Self.changes).parts() {
            if part.headers[.contentType] == "application/http" {
                statuses.append([try await part.httpResponse().status.code])
            } else {
                var inner: [Int] = []
                for try await change in part.parts() { inner.append(try await change.httpResponse().status.code) }
                statuses.append(inner)
            }
        }
        #expect(statuses == [[200], [201, 204], [404]])
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n" + String(repeating: "a:\r\n", count: 50_000), String(repeating: "H", count: 200_000),
    ])
    func `the head of a response in a part has the limit of a part's head`(head: String) async throws {
        let part = try await part("Content-Type: application/http\r\n", head)
        let error = await #expect(throws: HTTPError.self) { try await part.httpResponse() }
        #expect(
            error?.code == .responseTooLarge
                && error?.message.contains("16384 bytes allowed (to allow more, raise headLimit)") == true)
    }

    @Test func `leaving the parts of a part doesn't end the outer parts`() async throws {
        var count = 0
        for try await part in HTTPResponse.multipart(Self.changes).parts() {
            count += 1
            guard count == 2 else { continue }
            for try await _ in part.parts() { break }
        }
        #expect(count == 3)
    }

    @Test(
        arguments: [
            ("", "expected application/http, and received no Content-Type"),
            ("Content-Type: text/plain\r\n", "expected application/http, and received text/plain"),
        ])
    func `a part of another type is no response`(head: String, message: String) async throws {
        let error = await failure { try await part(head, "HTTP/1.1 200 OK\r\n\r\n").httpResponse() }
        #expect(error?.code == .invalidResponse && error?.message.hasSuffix(message) == true)
    }

    @Test(
        arguments: [
            "", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 2000\r\n\r\n", "HTTP/1.1 -10\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
            "HTTP/1.1 200\r\nno field\r\n\r\n", "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200\r\nContent-Length: 3\r\n\r\n12", "HTTP/1.1 200\r\nContent-Length: -1\r\n\r\n12",
            "HTTP/1.1 200\r\nContent-Length: +1\r\n\r\n12",
            "HTTP/1.1 200\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12",
        ])
    func `a malformed or truncated response in a part is an error`(text: String) async throws {
        let error = await failure { try await part("Content-Type: application/http\r\n", text).httpResponse() }
        #expect(error?.code == .invalidResponse)
        #expect(error?.message.hasPrefix("the part has no valid HTTP response: its ") == true)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nA: 1\r\n\r\n12", "12"), ("HTTP/1.1 200\n\n12\r\n", "12\r\n"),
            ("HTTP/2 200\r\nContent-Length: 1\r\n\r\n1\r\n", "1"), ("HTTP/1.0 200 OK\r\n\r\n", ""),
        ])
    func `a response in a part has the bytes of its Content-Length, or all`(text: String, body: String) async throws {
        let response = try await part("Content-Type: application/http; msgtype=response\r\n", text).httpResponse()
        #expect(response.status == .ok && response.body.buffered == Data(body.utf8))
    }
}

private func exchange(_ value: inout Bool, with new: Bool) -> Bool {
    defer { value = new }
    return value
}
