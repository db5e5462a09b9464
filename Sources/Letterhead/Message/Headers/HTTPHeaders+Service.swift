public import Foundation

/// One entry of a `Server-Timing` header (W3C Server Timing): what the server spent its time on.
public struct ServerTiming: Hashable, Sendable, CustomStringConvertible {
    /// The name of the metric, such as `db`.
    public let name: String
    /// The duration; nil if the server did not send one.
    public let duration: Duration?
    /// The description; nil if the server did not send one.
    public let text: String?

    /// The name, the description and the duration. Control characters are escaped.
    public var description: String {
        let shown = Redaction.visible(name) + (text.map { " (\(Redaction.visible($0)))" } ?? "")
        return duration.map { "\(shown) \($0.milliseconds)" } ?? shown
    }
}

extension HTTPHeaders {
    /// The entries of all `Server-Timing` headers, at most 100. Malformed entries are left out.
    public var serverTimings: [ServerTiming] {
        values(for: "Server-Timing").flatMap { ServerTiming.list($0) }.prefix(100).map(\.self)
    }

    /// The date at which the resource was or will be deprecated (RFC 9745); nil if the header `Deprecation` is missing
    /// or malformed. An HTTP date, as in earlier drafts, is accepted, too.
    public var deprecation: Date? {
        guard let text = self["Deprecation"] else { return nil }
        if text.hasPrefix("@"), text.utf8.count <= 16, let seconds = Int64(text.dropFirst()) {
            return Date(timeIntervalSince1970: TimeInterval(seconds))
        }
        return HTTPDate.date(text)
    }

    /// The date at which the resource is likely to become unresponsive (RFC 8594); nil if the header `Sunset` is
    /// missing or malformed.
    public var sunset: Date? { self["Sunset"].flatMap(HTTPDate.date) }
}

extension HTTPDate {
    fileprivate static func date(_ text: String) -> Date? {
        seconds(of: text, now: Int64(Date().timeIntervalSince1970)).map {
            Date(timeIntervalSince1970: TimeInterval($0))
        }
    }
}

extension ServerTiming {
    /// Returns the entries of a field. Quotation marks and escapes of a description are removed.
    static func list(_ text: String) -> [ServerTiming] {
        split(text, at: ",").compactMap { entry in
            var parts = split(entry, at: ";")[...]
            guard let name = parts.popFirst().map(trimmed), ASCII.isToken(name) else { return nil }
            var (duration, description): (Duration?, String?) = (nil, nil)
            for part in parts {
                let pair = part.split(separator: "=", maxSplits: 1).map { trimmed(String($0)) }
                guard pair.count == 2 else { continue }
                switch ASCII.lowercased(pair[0]) {
                case "dur" where duration == nil:
                    guard let number = Double(unquoted(pair[1])), (0...1e12).contains(number) else { continue }
                    duration = .milliseconds(number)
                case "desc" where description == nil: description = unquoted(pair[1])
                default: continue
                }
            }
            return ServerTiming(name: name, duration: duration, text: description)
        }
    }

    /// Splits a field value at a separator outside of quoted strings.
    private static func split(_ text: String, at separator: Character) -> [String] {
        var (parts, current, isQuoted, isEscaped) = ([String](), "", false, false)
        for character in text {
            if character == separator, !isQuoted {
                parts.append(current)
                current = ""
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            current.append(character)
        }
        return parts + [current]
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count > 1, text.first == "\"", text.last == "\"" else { return text }
        var (output, isEscaped) = ("", false)
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            output.append(character)
            isEscaped = false
        }
        return output
    }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespaces) }
}
