// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    #if canImport(FoundationNetworking)
        import Foundation
        public import FoundationNetworking
    #else
        public import LetterheadFoundation
    #endif

    extension HTTPURLResponse {
        /// Creates an `HTTPURLResponse` from a response, with the URL that was requested last. The body isn't part of
        /// it. The initializer returns nil if the request has no complete URL.
        ///
        /// Header fields with the same name are joined with `, `. On Linux, Foundation changes the capitalization of
        /// names.
        public convenience init?(_ response: HTTPResponse) {
            guard let url = try? response.request.url() else { return nil }
            self.init(
                url: url, statusCode: response.status.code, httpVersion: response.metrics.httpVersion ?? "HTTP/1.1",
                headerFields: response.headers.joined)
        }
    }

    extension HTTPResponse {
        /// Creates a response from an `HTTPURLResponse`, such as one from a `URLSession`.
        ///
        /// Foundation decompresses bodies. The fields `Content-Encoding` and `Content-Length` of such a body are
        /// therefore removed.
        ///
        /// - Parameters:
        ///   - response: the head.
        ///   - request: the request that was sent. Default: nil (a GET to the response URL).
        ///   - body: the body, decompressed. Default: empty.
        public init(
            _ response: HTTPURLResponse, to request: HTTPRequest? = nil, body: HTTPResponseBody = HTTPResponseBody()
        ) {
            let request = request ?? response.url.map { HTTPRequest(url: $0) } ?? HTTPRequest()
            var fields: [String: String] = [:]
            for case (let name as String, let value as String) in response.allHeaderFields { fields[name] = value }
            var headers = HTTPHeaders(fields)
            if let codings = headers[.contentEncoding], request.method != .head, Self.areUndone(codings) {
                headers[.contentEncoding] = nil
                headers[.contentLength] = nil
            }
            self.init(request: request, status: HTTPStatus(response.statusCode), headers: headers, body: body)
        }

        private static func areUndone(_ codings: String) -> Bool {
            ASCII.members(of: [codings]).allSatisfy { undoneCodings.contains(ASCII.keyword($0)) }
        }

        /// The content codings that Foundation decompresses. On Linux, Foundation offers the codings that its libcurl
        /// supports, and a response with any other coding fails.
        #if canImport(FoundationNetworking)
            private static let undoneCodings: Set = ["gzip", "x-gzip", "deflate", "br", "zstd", "identity"]
        #else
            private static let undoneCodings: Set = ["gzip", "x-gzip", "deflate", "br", "identity"]
        #endif
    }

    extension HTTPHeaders {
        /// Returns the fields as a dictionary with the values of equal names joined.
        var joined: [String: String] {
            // Creating a dictionary from the fields is faster than creating an empty one with a capacity.
            let joined = Dictionary(fields.lazy.map { ($0.name.rawValue, $0.value) }) { earlier, _ in earlier }
            guard hasRepeatedName else { return joined }
            var groups: [Name: (spelling: String, values: [String])] = [:]
            for field in fields { groups[field.name, default: (field.name.rawValue, [])].values.append(field.value) }
            return Dictionary(
                uniqueKeysWithValues: groups.map { name, group in
                    (group.spelling, group.values.joined(separator: name == .cookie ? "; " : ", "))
                })
        }

        /// Whether two fields have the same name. Comparing up to 16 names with each other is faster than hashing them.
        private var hasRepeatedName: Bool {
            guard fields.count <= 16 else { return Set(fields.lazy.map(\.name)).count < fields.count }
            return fields.indices.contains { index in
                fields[..<index].contains { $0.name == fields[index].name }
            }
        }
    }
#endif
