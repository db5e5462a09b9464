// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The request for `URLSession`: the head, and a body in memory or in a private file.
    final class URLSessionUpload: Sendable {
        enum Body: Sendable {
            case none
            case data(Data)
            case file(URL)
        }

        let urlRequest: URLRequest
        let body: Body

        /// Prepares the request.
        ///
        /// - Throws: `.invalidRequest` if the body cannot be encoded, or is longer or shorter than its declared length.
        init(
            _ request: HTTPRequest, idleSeconds: TimeInterval, cachePolicy: URLRequest.CachePolicy
        ) async throws(HTTPError) {
            do { body = try await Self.body(of: request) } catch { throw HTTPError(ofBody: error, request: request) }
            var urlRequest = URLRequest(url: try request.url())
            urlRequest.httpMethod = request.method.rawValue
            urlRequest.allHTTPHeaderFields = request.framedHeaders().joined
            // The default of URLRequest would replace the timeout of the session.
            urlRequest.timeoutInterval = idleSeconds
            urlRequest.cachePolicy = cachePolicy
            self.urlRequest = urlRequest
        }

        deinit {
            if case .file(let url) = body { try? FileManager.default.removeItem(at: url) }
        }

        func makeTask(in session: URLSession) -> URLSessionTask {
            switch body {
            case .none: session.dataTask(with: urlRequest)
            case .data(let data): session.uploadTask(with: urlRequest, from: data)
            case .file(let url): session.uploadTask(with: urlRequest, fromFile: url)
            }
        }

        private static func body(of request: HTTPRequest) async throws -> Body {
            if request.body.isEmpty { return .none }
            let chunks = try request.framedBody()
            if let data = chunks.data { return .data(data) }
            return .file(try await spool(chunks))
        }

        /// Writes the body to a file that only this user can read, and that is removed when the request has ended.
        private static func spool(_ chunks: BodyChunks) async throws -> URL {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-\(UUID().uuidString)")
            let descriptor = try PrivateFile.open(url.filePath, O_WRONLY | O_CREAT | O_EXCL)
            do {
                let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
                defer { try? file.close() }
                for try await chunk in chunks { try file.write(contentsOf: chunk) }
                return url
            } catch {
                try? FileManager.default.removeItem(at: url)
                throw error
            }
        }
    }
#endif
