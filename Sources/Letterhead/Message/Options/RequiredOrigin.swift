enum RequiredOriginOption: HTTPRequestOption {
    /// The request may be sent to any origin.
    static let defaultOptionValue: HTTPOrigin? = nil
}

extension HTTPRequest {
    /// The rule that the origin of the request violates; nil if the request may be sent to it.
    ///
    /// The rule is checked by the transport, because links can change the origin until then.
    var brokenOrigin: String? {
        guard let required = self[option: RequiredOriginOption.self], let origin, origin != required else { return nil }
        return "the URL of the page leads to \(required), but the request would be sent to \(origin); send it to the "
            + "origin of the page, or start at the first page"
    }
}
