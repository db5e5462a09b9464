// SPDX-License-Identifier: MIT
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
