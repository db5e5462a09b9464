/// The members of a template that the laws check.
public enum TemplateMember: String, Sendable, Hashable, CaseIterable {
    /// `path`.
    case path
    /// `baseURL`.
    case baseURL
    /// `method`.
    case method
    /// `query`.
    case query
    /// `headers`.
    case headers
    /// `parameters`.
    case parameters
    /// `body`, its bytes and its headers.
    case body
    /// `boundary`.
    case boundary
    /// `acceptedStatuses`.
    case acceptedStatuses
    /// `options`.
    case options
    /// `decode(_:)`, and the type of the response.
    case decode
    /// `finish(_:)`.
    case finish
    /// The type of the failure.
    case failure = "Failure"
    /// `page` and the following pages.
    case page
}
