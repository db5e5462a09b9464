// SPDX-License-Identifier: MIT
/// The members of a template that the laws check.
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
    /// `decode(_:)`, and the type of the response.
    case decode
    case finish
    /// The type of the failure.
    case failure = "Failure"
    /// `page` and the following pages.
    case page
}
