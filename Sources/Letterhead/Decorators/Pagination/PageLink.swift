public import Foundation

/// A link to a page as documents write it: a text, or an object with `href` (JSON:API, HAL).
///
/// A link that is a template (RFC 6570) cannot be followed as it stands; a walk that meets one fails, saying so.
public struct PageLink: Sendable, Hashable, Decodable {
    /// The target, as the server wrote it.
    public let href: String
    /// Whether the target is a template.
    public let templated: Bool

    /// Makes a link.
    public init(href: String, templated: Bool = false) {
        self.href = href
        self.templated = templated
    }

    /// Reads a text or an object.
    public init(from decoder: any Decoder) throws {
        if let href = try? decoder.singleValueContainer().decode(String.self) {
            self.init(href: href)
        } else {
            let container = try decoder.container(keyedBy: Member.self)
            self.init(
                href: try container.decode(String.self, forKey: .href),
                templated: try container.decodeIfPresent(Bool.self, forKey: .templated) ?? false)
        }
    }

    private enum Member: String, CodingKey {
        case href, templated
    }
}

/// What a page may link the next one by: a text, a URL, a ``PageLink``, or an optional of these.
public protocol PageLinkConvertible: Sendable {
    /// The link; nil when there is no next page.
    var pageLink: PageLink? { get }
}

extension PageLink: PageLinkConvertible {
    /// The link itself, unless it is empty.
    public var pageLink: PageLink? { href.isEmpty ? nil : self }
}

extension String: PageLinkConvertible {
    /// The text as a target, unless it is empty.
    public var pageLink: PageLink? { isEmpty ? nil : PageLink(href: self) }
}

extension URL: PageLinkConvertible {
    /// The URL as a target.
    public var pageLink: PageLink? { PageLink(href: relativeString) }
}

extension Optional: PageLinkConvertible where Wrapped: PageLinkConvertible {
    /// The link, if there is one.
    public var pageLink: PageLink? { self?.pageLink }
}
