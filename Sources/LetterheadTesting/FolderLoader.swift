// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

/// A loader that responds with files from a folder. Use it for previews, for an app's demo mode, and for tests with
/// many fixtures. It needs no testing library, so an app can link this module, too.
///
/// ```swift
/// let demo = HTTPClient(environment: .production, transport: FolderLoader(folder))
/// let mixed = FolderLoader(folder).when { $0.host == "localhost" } --> HTTPClient.defaultTransport
/// ```
///
/// The request's path determines the file, and the file's extension determines the Content-Type. The loader ignores the
/// query and all headers except `Accept`:
///
/// | Request | File |
/// |---|---|
/// | `GET /users/ada`, `HEAD /users/ada` | `users/ada` or `users/ada.json`, or with another media type's extension |
/// | `POST /users/ada`, and other methods | `users/ada.post.json`, or with another extension |
/// | `GET /` | `index.json`, or with another extension |
///
/// If files with several extensions exist, the loader prefers a media type in `Accept`, then `.json`, then the first
/// file by name.
///
/// For another status than 200, and for headers, add a file such as `users/ada.head.json` or
/// `users/ada.post.head.json`. Its members are optional, and so is the file with the body:
///
/// ```json
/// { "status": 503, "headers": { "Retry-After": "60" } }
/// ```
///
/// Without any file, the response is 404 for GET and HEAD, and 405 for other methods. A file for a response's head is
/// never a body, and a file for POST, PUT, PATCH or DELETE is never the response to GET or HEAD. The loader never reads
/// a file outside the folder, even if the path or a symbolic link leads to one.
public struct FolderLoader: HTTPLoader {
    private let folder: String

    /// Creates a loader. It reads the files for each request, so changes take effect immediately.
    public init(_ folder: URL) { self.folder = folder.path }

    /// Responds with a file. Time limits do not apply, because nothing is awaited.
    ///
    /// - Throws: `.invalidRequest` for a malformed request, `.invalidResponse` if the head's file is malformed or a
    ///   file can't be read.
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try request.validate()
        _ = try request.framedBody()
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        return try await response(to: request).delivered(to: request)
    }

    private func response(to request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        let isRead = request.method == .get || request.method == .head
        guard let place = place(of: request, isRead: isRead), let files = files(of: place, for: request, isRead: isRead)
        else {
            return isRead
                ? HTTPResponse(request: request, status: .notFound)
                : HTTPResponse(request: request, status: .methodNotAllowed, headers: ["Allow": "GET, HEAD"])
        }
        do {
            var (status, headers) = (HTTPStatus.ok, HTTPHeaders())
            if let file = files.head {
                let head = try JSONDecoder().decode(Head.self, from: try Data(contentsOf: URL(filePath: file)))
                status = head.status.map { HTTPStatus($0) } ?? .ok
                for (name, value) in head.headers ?? [:] { headers.append(HTTPHeaders.Name(name), value) }
            }
            guard let file = files.body else { return HTTPResponse(request: request, status: status, headers: headers) }
            let data = try Data(contentsOf: URL(filePath: file))
            if !headers.contains(.contentType) { headers[.contentType] = MediaType(filename: file).description }
            headers[.contentLength] = "\(data.count)"
            let body = HTTPResponseBody(request.method == .head ? Data() : data)
            return HTTPResponse(request: request, status: status, headers: headers, body: body)
        } catch {
            throw HTTPError(
                .invalidResponse, request: request, underlying: error,
                message: "the files \(place.name).* of the FolderLoader cannot be read", mayHaveBeenSent: false)
        }
    }
}

extension FolderLoader {
    /// What a `.head.json` file contains.
    private struct Head: Decodable {
        var status: Int?
        var headers: [String: String]?
    }

    /// Where a request's files are: a directory, and their name without an extension.
    private typealias Place = (directory: String, name: String)

    /// Returns a request's place, or nil if its path has a segment that can't be a file name.
    private func place(of request: HTTPRequest, isRead: Bool) -> Place? {
        var names = request.path.segments
        let areNames = names.allSatisfy { name in
            name != "." && name != ".." && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
        }
        guard areNames else { return nil }
        let last = names.popLast() ?? "index"
        if isRead, Self.isReserved(last, isRead: true) { return nil }
        let name = isRead ? last : "\(last).\(ASCII.lowercased(request.method.rawValue))"
        return (([folder] + names).joined(separator: "/"), name)
    }

    /// Returns whether a file can't be a body, because it is for a response's head or, when a method reads, for another
    /// method.
    private static func isReserved(_ name: String, isRead: Bool) -> Bool {
        let reserved = isRead ? ["head", "post", "put", "patch", "delete"] : ["head"]
        let extensions = ASCII.lowercased(name).split(at: ".", omittingEmpty: false).dropFirst()
        return extensions.suffix(isRead ? 2 : 1).contains { part in reserved.contains { part.isSame(as: $0) } }
    }

    /// Returns the files at a place, or nil without any.
    private func files(of place: Place, for request: HTTPRequest, isRead: Bool) -> (head: String?, body: String?)? {
        let accepted = (request.framedHeaders()[.accept] ?? "").split(at: ",").compactMap {
            MediaType(String($0))?.essence
        }
        let all = (try? FileManager.default.contentsOfDirectory(atPath: place.directory)) ?? []
        let names = all.filter { name in
            // The name for another method, or for a head, has two extensions.
            guard name.begins(with: place.name + ".") else { return false }
            return !name.utf8.dropFirst(place.name.utf8.count + 1).contains(UInt8(ascii: "."))
                && !Self.isReserved(name, isRead: isRead)
        }.sorted()
        let chosen =
            names.first { accepted.contains(MediaType(filename: $0).essence) } ?? names.first { $0.ends(with: ".json") }
            ?? names.first
        let body = file(place.name, in: place) ?? chosen.flatMap { file($0, in: place) }
        let head = file(place.name + ".head.json", in: place)
        return head == nil && body == nil ? nil : (head, body)
    }

    /// Returns a regular file's path in the folder, or nil if the file doesn't exist.
    private func file(_ name: String, in place: Place) -> String? {
        guard let path = Self.realPath("\(place.directory)/\(name)"), let root = Self.realPath(folder) else {
            return nil
        }
        guard path.begins(with: root.ends(with: "/") ? root : root + "/") else { return nil }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.type] as? FileAttributeType == .typeRegular ? path : nil
    }

    /// Returns a path without symbolic links, or nil if the file doesn't exist.
    private static func realPath(_ path: String) -> String? {
        // The caller owns the path, which ends with a zero byte.
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
