// SPDX-License-Identifier: MIT
public import LetterheadFoundation

extension HTTPResponse {
    /// The links in the `Link` header fields, in order (RFC 8288).
    ///
    /// ```swift
    /// let help = response.links.first { $0.relations.contains("help") }?.target
    /// ```
    ///
    /// To follow the links of pages, use ``Pagination/linkHeader``. Reading a field ends at its first syntax error, and
    /// the links before the error are returned.
    public var links: [Link] {
        let context = Link.Context(of: self)
        return LinkHeader.links(in: headers.values(for: .link)).map {
            Link(reference: $0.reference, parameters: $0.parameters, context: context)
        }
    }

    /// A link in a `Link` header field. See ``HTTPResponse/links``.
    public struct Link: Sendable {
        /// The target as the server sent it: a URL, or a reference relative to the URL of the response.
        public let reference: String
        /// The parameters in order, with names in lower case. The value of a `title*` isn't decoded.
        public let parameters: [(name: String, value: String)]
        let context: Context?

        /// The target, resolved against the URL of the request. Nil if it isn't a valid URL.
        ///
        /// Characters that a URL doesn't allow are percent-encoded. A server may name any host: the client sends no
        /// credentials to a different origin. Each access resolves the reference again.
        public var target: URL? {
            guard let context, !reference.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
            var target = context.resolving(reference)
            // Only a redirect inherits the fragment (RFC 9110, 10.2.2).
            target.fragment = URLParts(reference).fragment
            let escaped = target.escaped(path: .pathLiteral, query: .queryLiteral)
            return URL(string: escaped.string, encodingInvalidCharacters: false)
        }

        /// The relation types in lower case, such as `next`. Only the first `rel` counts.
        ///
        /// They tell how the response relates to the target. If the link has an `anchor`, they tell it for the resource
        /// at the anchor instead.
        public var relations: [String] {
            let types = (self["rel"] ?? "").split(at: " ").flatMap { $0.split(at: "\t") }
            return types.map(ASCII.keyword).filter { !$0.isEmpty }
        }

        /// The value of the first parameter with a name, such as `title`, or nil if the link doesn't have it. The case
        /// of the name doesn't matter.
        public subscript(name: String) -> String? {
            parameters.first { ASCII.equalIgnoringCase($0.name, name) }?.value
        }
    }
}

extension HTTPResponse.Link: CustomStringConvertible, CustomReflectable {
    /// The reference and the relation types. Secrets are redacted.
    public var description: String {
        let redaction = context?.redaction ?? .standard
        let link = "<\(reference)>; rel=\(ASCII.quoted(relations.joined(separator: " ")))"
        return Redaction.visible(redaction.redactURLs(link))
    }

    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPResponse.Link {
    /// The URL that references in a response are relative to.
    struct Context: Sendable {
        let url: URLParts
        private let server: HTTPOrigin?
        let redaction: Redaction

        init?(of response: HTTPResponse) {
            guard let url = try? response.request.urlString() else { return nil }
            (self.url, server, redaction) = (URLParts(url), response.respondingServer, response.request.redaction)
        }

        /// Resolves a reference relative to the request URL.
        ///
        /// If a link chose the server that responded, a reference to that server becomes one to the origin of the request,
        /// so that the link can choose again.
        func resolving(_ reference: String) -> URLParts {
            var target = url.resolving(URLParts(reference))
            if let server, target.userInfo == nil, HTTPOrigin(target) == server {
                (target.scheme, target.authority) = (url.scheme, url.authority)
            }
            return target
        }
    }
}
