public import Foundation

/// A law that a decorator, a template or a loader breaks.
public struct LawViolation: Sendable, Hashable, CustomStringConvertible {
    /// The law, by its name in the documentation of the check: `forwarding`, `cancellation`.
    public let law: String
    /// The member of the template that breaks it; nil for a loader.
    public let member: TemplateMember?
    /// What is wrong, and what to do.
    public let reason: String

    /// Makes a violation.
    public init(law: String, member: TemplateMember? = nil, reason: String) {
        self.law = law
        self.member = member
        self.reason = reason
    }

    /// Law, member and reason on one line.
    public var description: String { "\(law): \(member.map { "\($0.rawValue) " } ?? "")\(reason)" }
}

/// All laws that are broken, as the error of a check.
public struct LawViolations: Error, LocalizedError, Sendable, CustomStringConvertible {
    /// What is broken, in the order in which it was found.
    public let violations: [LawViolation]

    /// Makes the error.
    public init(_ violations: [LawViolation]) { self.violations = violations }

    /// A line a violation.
    public var description: String { violations.map(\.description).joined(separator: "\n") }

    /// The same as ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}
