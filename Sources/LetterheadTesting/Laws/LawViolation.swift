// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A law that a decorator, a template, a loader or a link violates.
public struct LawViolation: Sendable, Hashable, CustomStringConvertible {
    /// The law's name in lower case, such as `forwarding` or `cancellation`.
    public let law: String
    /// The template's member that violates the law, or nil when loaders, links or events are checked.
    public let member: TemplateMember?
    /// The cause, and the remedy if there is one.
    public let reason: String

    init(_ law: String, _ member: TemplateMember?, _ reason: String) {
        (self.law, self.member, self.reason) = (law, member, reason)
    }

    /// The law, the member and the reason on one line.
    public var description: String { "\(law): \(member.map { "\($0.rawValue) " } ?? "")\(reason)" }
}

/// The error that a check throws, with all violations.
public struct LawViolations: Error, LocalizedError, Sendable, CustomStringConvertible {
    /// The violations, the first one found first.
    public let violations: [LawViolation]

    /// One line for each violation.
    public var description: String { violations.map(\.description).joined(separator: "\n") }

    /// The same as ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension [LawViolation] {
    /// Throws ``LawViolations`` if there are any.
    func check() throws { if !isEmpty { throw LawViolations(violations: self) } }
}

/// The template members that the laws check.
public enum TemplateMember: String, Sendable, Hashable, CaseIterable {
    case path
    case baseURL
    case method
    case query
    case headers
    case parameters
    /// `body`, its bytes and its headers.
    case body
    case boundary
    case acceptedStatuses
    case options
    /// `decode(_:)` and the response type.
    case decode
    case finish
    /// The failure type.
    case failure = "Failure"
    /// `page` and the following pages.
    case page
}
