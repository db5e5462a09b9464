// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

extension HTTPHeaders {
    /// An entry in a `Server-Timing` header (W3C Server Timing). It reports what the server spent its time on.
    public struct ServerTiming: Hashable, Sendable, CustomStringConvertible {
        /// The metric name, such as `db`.
        public let name: String
        /// The duration that the server has measured (`dur`). Nil if the entry has none.
        public let duration: Duration?
        /// The description of the metric (`desc`), without quotation marks and escapes. Nil if the entry has none.
        public let text: String?

        /// The name, the description and the duration. Control characters are escaped.
        public var description: String {
            let shown = Redaction.visible(name) + (text.map { " (\(Redaction.visible($0)))" } ?? "")
            return duration.map { "\(shown) \($0.milliseconds)" } ?? shown
        }
    }
}

extension HTTPHeaders {
    /// The entries in all `Server-Timing` headers, at most 100. Malformed entries are left out.
    public var serverTimings: [HTTPHeaders.ServerTiming] {
        values(for: "Server-Timing").flatMap { HTTPHeaders.ServerTiming.list($0) }.prefix(100).map(\.self)
    }

    /// When the resource was or will be deprecated (RFC 9745), or nil if the header `Deprecation` is missing or
    /// malformed.
    ///
    /// An HTTP date is accepted, too, as in earlier drafts.
    public var deprecation: Date? {
        guard let text = self["Deprecation"] else { return nil }
        if let (head, digits) = text.cut(at: "@"), head.isEmpty, text.utf8.count <= 16, let seconds = Int64(digits) {
            return Date(timeIntervalSince1970: TimeInterval(seconds))
        }
        return HTTPDate.date(text)
    }

    /// When the resource is likely to become unresponsive (RFC 8594), or nil if the header `Sunset` is missing or
    /// malformed.
    public var sunset: Date? { self["Sunset"].flatMap(HTTPDate.date) }
}

extension HTTPDate {
    fileprivate static func date(_ text: String) -> Date? {
        seconds(of: text, now: Int64(Date().timeIntervalSince1970)).map {
            Date(timeIntervalSince1970: TimeInterval($0))
        }
    }
}

extension HTTPHeaders.ServerTiming {
    /// Returns the entries in a header field. Descriptions have no quotation marks and escapes.
    static func list(_ text: String) -> [HTTPHeaders.ServerTiming] {
        split(text.utf8[...], at: ",").compactMap { entry in
            var parts = split(entry, at: ";")[...]
            guard let name = parts.popFirst().map(trimmed), ASCII.isToken(name) else { return nil }
            var (duration, description): (Duration?, String?) = (nil, nil)
            for part in parts {
                guard let (name, value) = Substring(part).cut(at: "=") else { continue }
                let text = unquoted(ASCII.trimmed(value))
                switch ASCII.keyword(ASCII.trimmed(name)) {
                case "dur" where duration == nil:
                    guard let number = Double(text), (0...1e12).contains(number) else { continue }
                    duration = .milliseconds(number)
                case "desc" where description == nil: description = text
                default: continue
                }
            }
            return HTTPHeaders.ServerTiming(name: name, duration: duration, text: description)
        }
    }

    /// Splits a field value at separators that aren't in a quoted string.
    private static func split(_ text: Substring.UTF8View, at separator: Unicode.Scalar) -> [Substring.UTF8View] {
        var (isQuoted, isEscaped) = (false, false)
        return text.split(omittingEmptySubsequences: false) { byte in
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
            return byte == UInt8(ascii: separator) && !isQuoted
        }
    }

    private static func unquoted(_ text: String) -> String {
        let bytes = text.utf8
        guard bytes.count > 1, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return text }
        var isEscaped = false
        let inside = bytes.dropFirst().dropLast().filter { byte in
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            return !isEscaped
        }
        return String(decoding: inside, as: UTF8.self)
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String { ASCII.trimmed(Substring(text)) }
}
