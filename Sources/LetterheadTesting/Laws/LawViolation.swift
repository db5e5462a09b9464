// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A violation of a law by a decorator, a template, a loader or a link.
public struct LawViolation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the law in lower case, such as `forwarding` or `cancellation`.
    public let law: String
    /// The member of the template that violates the law; nil for checks of loaders, links and events.
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
    /// The violations, in the order in which they were found.
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
