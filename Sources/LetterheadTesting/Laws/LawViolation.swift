// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A law that is violated by a decorator, a template, a loader or a link.
public struct LawViolation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the law in lower case, such as `forwarding` or `cancellation`.
    public let law: String
    /// The template member that violates the law, or nil when loaders, links or events are checked.
    public let member: TemplateMember?
    /// What was wrong, and how to correct it if that is known.
    public let reason: String

    init(_ law: String, _ member: TemplateMember?, _ reason: String) {
        (self.law, self.member, self.reason) = (law, member, reason)
    }

    /// The law, the member and the reason on one line.
    public var description: String { "\(law): \(member.map { "\($0.rawValue) " } ?? "")\(reason)" }
}

/// The error that a check throws, with all violations.
public struct LawViolations: Error, LocalizedError, Sendable, CustomStringConvertible {
    /// The violations, in the order in which they were found.
    public let violations: [LawViolation]

    /// One line for each violation.
    public var description: String { violations.map(\.description).joined(separator: "\n") }

    /// The same as ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension [LawViolation] {
    /// Throws ``LawViolations`` if the array contains any.
    func check() throws { if !isEmpty { throw LawViolations(violations: self) } }
}

/// Names the template members that the laws check. Each case has the name of its member in `RequestTemplate`.
public enum TemplateMember: String, Sendable, Hashable, CaseIterable {
    case path
    case baseURL
    case method
    case query
    case headers
    case parameters
    /// `body`, with its bytes and its headers.
    case body
    case boundary
    case acceptedStatuses
    case options
    /// `decode(_:)` and the type of its result.
    case decode
    case finish
    /// The type for failures.
    case failure = "Failure"
    /// `page` and the templates for the following pages.
    case page
}
