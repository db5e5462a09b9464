// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct FolderLoaderTests {
    private let root = TemporaryFolder()

    private var served: URL { root.url.appending(path: "served", directoryHint: .isDirectory) }

    /// Writes files by their paths, and returns a loader of the folder `served`.
    private func loader(_ files: [String: String]) throws -> FolderLoader {
        for (path, text) in files {
            let file = root.url.appending(path: path, directoryHint: .notDirectory)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return FolderLoader(served)
    }

    private func text(of response: HTTPResponse) -> String? {
        response.body.buffered.map { String(decoding: $0, as: UTF8.self) }
    }

    private func text(_ path: String, _ loader: FolderLoader, accept: String? = nil) async throws -> String? {
        var request = try HTTPRequest("https://demo.test\(path)")
        request.headers[.accept] = accept
        let response = try await loader.load(request)
        return response.status == .ok ? text(of: response) : "\(response.status.code)"
    }

    @Test func `a template is decoded from a file`() async throws {
        let loader = try loader(["served/v1/people/ada.json": #"{"id":1,"login":"ada"}"#])
        let client = HTTPClient.over(loader)
        let (person, response) = try await client.sendWithResponse(GetPerson(login: "ada").query("full", true))
        #expect(person == .ada)
        #expect(response.headers[.contentType] == "application/json" && response.headers[.contentLength] == "22")
        let error = try await #require(throws: HTTPError.self) { try await client.send(GetPerson(login: "joan")) }
        #expect(error.response?.status == .notFound)
    }

    @Test func `a file without an extension, and one with any extension, are found`() async throws {
        let files = [
            "served/plain": "plain", "served/both": "exact", "served/both.json": "json", "served/note.txt": "note",
            "served/index.html": "home", "served/a b/é?.json": "escaped",
        ]
        let loader = try loader(files)
        for (path, expected) in [
            ("/plain", "plain"), ("/both", "exact"), ("/note", "note"), ("/note.txt", "note"), ("/", "home"),
            ("/a%20b/%C3%A9%3F", "escaped"), ("/note/", "note"), ("/no", "404"), ("/note.t", "404"),
        ] {
            #expect(try await text(path, loader) == expected, "\(path)")
        }
    }

    @Test func `the header Accept chooses among the extensions, then JSON, then the name`() async throws {
        let files = [
            "served/a.xml": "xml", "served/a.json": "json", "served/a.csv": "csv", "served/b.xml": "xml",
            "served/b.csv": "csv",
        ]
        let loader = try loader(files)
        #expect(try await text("/a", loader, accept: "image/png, application/xml;q=0.5") == "xml")
        #expect(try await text("/a", loader, accept: "*/*") == "json")
        #expect(try await text("/a", loader) == "json")
        #expect(try await text("/b", loader) == "csv")
    }

    @Test func `a head file sets the status and the headers`() async throws {
        let files = [
            "served/busy.head.json": #"{"status":503,"headers":{"Retry-After":"60","content-type":"text/x"}}"#,
            "served/busy.txt": "busy", "served/moved.head.json": #"{"status":301,"headers":{"Location":"/plain"}}"#,
            "served/broken.head.json": "{",
        ]
        let loader = try loader(files)
        let busy = try await loader.load(try .to("https://demo.test/busy"))
        #expect(busy.status == .serviceUnavailable && text(of: busy) == "busy")
        #expect(busy.headers["Retry-After"] == "60" && busy.headers.values(for: .contentType) == ["text/x"])
        let moved = try await loader.load(try .to("https://demo.test/moved"))
        #expect(moved.status == .movedPermanently && moved.headers["Location"] == "/plain")
        let error = await #expect(throws: HTTPError.self) {
            _ = try await loader.load(try .to("https://demo.test/broken"))
        }
        #expect(error?.message == "the files broken.* of the FolderLoader cannot be read")
    }

    @Test func `each method has its files, and 405 is the response without one`() async throws {
        let files = [
            "served/users.json": "[]", "served/users.post.json": "{}",
            "served/users.post.head.json": #"{"status":201}"#,
            "served/users.delete.head.json": #"{"status":204}"#,
        ]
        let loader = try loader(files)
        func load(_ method: HTTPMethod) async throws -> HTTPResponse {
            try await loader.load(try .to("https://demo.test/users", method: method))
        }
        let created = try await load(.post)
        #expect(created.status == .created && text(of: created) == "{}")
        #expect(try await load(.delete).status == .noContent)
        let refused = try await load(.put)
        #expect(refused.status == .methodNotAllowed && refused.headers["Allow"] == "GET, HEAD")
        let head = try await load(.head)
        #expect(head.status == .ok && head.headers[.contentLength] == "2" && text(of: head) == "")
    }

    @Test(arguments: [
        "/a", "/a.head", "/a.head.json", "/a.post", "/a.post.json", "/a.post.head", "/a.post.head.json", "/a.DELETE",
    ])
    func `a file for a head or for another method is not the response to GET`(path: String) async throws {
        let loader = try loader([
            "served/a.head": "{}", "served/a.post": "post", "served/a.post.json": "post",
            "served/a.post.head": "{}", "served/a.post.head.json": #"{"status":201}"#, "served/a.DELETE": "delete",
        ])
        #expect(try await text(path, loader) == "404")
        let created = try await loader.load(try .to("https://demo.test/a", method: .post))
        #expect(created.status == .created && text(of: created) == "post")
    }

    @Test func `a file with a head is not the body of its own head`() async throws {
        let loader = try loader([
            "served/a.head.json": #"{"status":503}"#, "served/a.head": "x", "served/a.put.head": "x",
            "served/a.put.head.json": #"{"status":204}"#, "served/post.json": "post", "served/head": "head",
        ])
        let head = try await loader.load(try .to("https://demo.test/a"))
        #expect(head.status == .serviceUnavailable && text(of: head) == "")
        let put = try await loader.load(try .to("https://demo.test/a", method: .put))
        #expect(put.status == .noContent && text(of: put) == "")
        #expect(try await text("/post", loader) == "post")
        #expect(try await text("/head", loader) == "head")
    }

    @Test(arguments: [
        "/../secret.json", "/../secret", "/%2E%2E/secret", "/a/..%2F..%2Fsecret", "/..%2Fsecret", "/a%2Fb", "/a/b%00",
        "/link", "/link.json", "/folder/secret", "/a/../../secret", "/a", "//../secret", "/.",
    ])
    func `no path leaves the folder`(path: String) async throws {
        let files = ["secret.json": "secret", "served/a/b.json": "b", "served-too/x.json": "secret"]
        let loader = try loader(files)
        let manager = FileManager.default
        try manager.createSymbolicLink(
            atPath: served.appending(path: "link.json").path, withDestinationPath: "../secret.json")
        try manager.createSymbolicLink(atPath: served.appending(path: "folder").path, withDestinationPath: "..")
        var request = HTTPRequest()
        (request.host, request.path) = ("demo.test", "\(raw: path)")
        let response = try? await loader.load(request)
        #expect(response == nil || response?.status == .notFound)
    }

    @Test func `a symbolic link inside the folder is followed`() async throws {
        let loader = try loader(["served/a/b.json": "b"])
        try FileManager.default.createSymbolicLink(
            atPath: served.appending(path: "c.json").path, withDestinationPath: "a/b.json")
        #expect(try await text("/c", loader) == "b")
    }

    @Test func `some requests of a chain are served from a folder`() async throws {
        let loader = try loader(["served/a.json": "[1]"])
        let transport = MockLoader { HTTPResponse(request: $0, status: .accepted) }
        let chain = loader.when { $0.host == "localhost" } --> transport
        #expect(try await chain.load(try .to("http://localhost/a")).status == .ok)
        #expect(try await chain.load(try .to("http://localhost/b")).status == .notFound)
        #expect(try await chain.load(try .to("http://other.test/a")).status == .accepted)
        #expect(transport.requests.count == 1)
    }

    @Test func `a download is saved, and the limit of a response holds`() async throws {
        let loader = try loader(["served/v1/a.json": "[1,2,3]"])
        let file = served.appending(path: "copy")
        let client = HTTPClient.over(loader)
        _ = try await client.download(Get<HTTPResponse>("a"), to: file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "[1,2,3]")
        var request = try HTTPRequest("https://demo.test/v1/a")
        request.responseLimit = 3
        let limited = request
        let error = await #expect(throws: HTTPError.self) { _ = try await loader.load(limited) }
        #expect(error?.code == .responseTooLarge)
    }

    @Test func `a cancelled request and a malformed one are refused`() async throws {
        let loader = try loader(["served/a.json": "[]"])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await loader.load(try .to("https://demo.test/a"))
        }
        let cancellation = await #expect(throws: HTTPError.self) { _ = try await task.value }
        #expect(cancellation?.code == .cancelled)
        let error = await #expect(throws: HTTPError.self) { _ = try await loader.load(HTTPRequest()) }
        #expect(error?.code == .invalidRequest)
    }
}

/// A folder that is removed with its last reference.
private final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "folder-\(UUID())", directoryHint: .isDirectory)

    deinit { try? FileManager.default.removeItem(at: url) }
}
