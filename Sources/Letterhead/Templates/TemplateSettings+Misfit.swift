import Foundation

extension RequestTemplate {
    /// The error of a setting that the template declares as a member; nil if there is none.
    static var declaredSetting: String? {
        // One check for each group of settings, because most templates declare none, and the checks run for each
        // request.
        guard
            _hasLimitSettings || _hasSigningSettings || _hasJudgingSettings || _hasReadingSettings
                || _hasRoutingSettings || _hasSharingSettings || _hasProgressSettings
        else {
            return nil
        }
        for setting in lookalikes where setting.isDeclared {
            return
                "the member \(setting.member) of \(Self.self) would be ignored, because templates have no such member; "
                + setting.remedy
        }
        return nil
    }

    private static var lookalikes: [DeclaredSetting] {
        [
            DeclaredSetting(
                "connectTimeout", _ConnectTimeout.self, is: ["Swift.Duration"], modifier: ".connectTimeout(…)"),
            DeclaredSetting("idleTimeout", _IdleTimeout.self, is: ["Swift.Duration"], modifier: ".idleTimeout(…)"),
            DeclaredSetting("responseLimit", _ResponseLimit.self, is: ["Swift.Int"], modifier: ".responseLimit(…)"),
            DeclaredSetting("maximumRetries", _MaximumRetries.self, is: ["Swift.Int"], modifier: ".maximumRetries(…)"),
            DeclaredSetting(
                "authentication", _Authentication.self, is: ["Letterhead.HTTPAuthentication"],
                modifier: ".authenticated(by: …)"),
            DeclaredSetting(
                "requiredScopes", _RequiredScopes.self, is: ["Swift.Set<Swift.String>"],
                modifier: ".authenticated(scopes: …)"),
            DeclaredSetting(
                "isSecret", _IsSecret.self, is: ["Swift.Bool"], remedy: "write .secret() where the template is sent"),
            DeclaredSetting(
                "validators", _Validators.self,
                is: [
                    "Letterhead.HTTPValidator", "Letterhead.DefaultValidator", "Letterhead.ClosureValidator",
                    "Letterhead.ContentTypeValidator", "Letterhead.AltRequestValidator",
                ], modifier: ".validated(by: …)"),
            DeclaredSetting(
                "responseTransformers", _ResponseTransformers.self, is: ["Letterhead.ModifyResponse"],
                modifier: ".transformed(by: …)"),
            DeclaredSetting(
                "retryStrategy", _RetryStrategy.self, is: ["Letterhead.HTTPRetryStrategy"], modifier: ".retry(…)"),
            DeclaredSetting(
                "decoder", _Decoder.self, is: ["Letterhead.HTTPBodyDecoder", "Letterhead.MediaTypeDecoder"],
                modifier: ".decoder(…)"),
            DeclaredSetting(
                "responseDelivery", _ResponseDelivery.self, is: ["Letterhead.ResponseDelivery"],
                remedy: "send the template with stream(_:) or download(_:to:) of the client"),
            DeclaredSetting("redaction", _Redaction.self, is: ["Letterhead.Redaction"], modifier: ".redaction(…)"),
            DeclaredSetting(
                "serverEnvironment", _ServerEnvironment.self, is: ["Letterhead.ServerEnvironment"],
                modifier: ".environment(…)"),
            DeclaredSetting(
                "redirectPolicy", _RedirectPolicy.self, is: ["Letterhead.RedirectPolicy"], modifier: ".redirects(…)"),
            DeclaredSetting(
                "isIdempotent", _IsIdempotent.self, is: ["Swift.Bool"], modifier: ".idempotent()"),
            DeclaredSetting(
                "deduplication", _Deduplication.self, is: ["Letterhead.Deduplication"], modifier: ".deduplication(…)"),
            DeclaredSetting("throttling", _Throttling.self, is: ["Letterhead.Throttling"], modifier: ".throttling(…)"),
            DeclaredSetting("onRetry", _OnRetry.self, is: ["Letterhead.RetryContext"], modifier: ".onRetry { … }"),
            DeclaredSetting(
                "onProgress", _OnProgress.self, is: ["Letterhead.TransferProgress"], modifier: ".onProgress { … }"),
            DeclaredSetting(
                "progressReport", _ProgressReport.self, is: ["Letterhead.ProgressUpdates"], modifier: ".onProgress(…)"),
        ]
    }
}

/// A member of a template with the name of a setting.
private struct DeclaredSetting {
    let member: String
    let remedy: String
    private let written: Any.Type
    private let names: [String]

    /// - Parameters:
    ///   - member: the name of the member.
    ///   - written: its declared type.
    ///   - names: the names of the types of the setting. They are strings, because this folder must not use most of
    ///     these types (CONTRIBUTING.md describes the order of the folders).
    ///   - remedy: the alternative.
    init(_ member: String, _ written: Any.Type, is names: [String], remedy: String) {
        (self.member, self.written, self.names, self.remedy) = (member, written, names, remedy)
    }

    init(_ member: String, _ written: Any.Type, is names: [String], modifier: String) {
        self.init(member, written, is: names, remedy: "write \(modifier) where the template is sent")
    }

    /// Whether the type of the member is that of the setting. A member of another type is unrelated.
    var isDeclared: Bool {
        guard written != _Unwritten.self else { return false }
        if isCustom(written) { return true }
        let text = String(reflecting: written)
        return names.contains { name in
            if name.hasPrefix("Swift.") { return text == name || text == "Swift.Optional<\(name)>" }
            // The type may also be part of an optional, a list or a closure.
            return text.ranges(of: name).contains { range in
                text[range.upperBound...].first.map { !$0.isLetter && !$0.isNumber } ?? true
            }
        }
    }
    /// Whether a type is a custom validator, decoder or the like, or an optional or an array of such a type.
    private func isCustom(_ type: Any.Type) -> Bool {
        if let wrapper = type as? any Wrapper.Type { return isCustom(wrapper.content) }
        return type is any _SettingValue.Type || member == "decoder" && type is any HTTPBodyDecoder.Type
    }
}

/// A type that contains values of one other type.
private protocol Wrapper {
    static var content: Any.Type { get }
}

extension Optional: Wrapper {
    fileprivate static var content: Any.Type { Wrapped.self }
}

extension Array: Wrapper {
    fileprivate static var content: Any.Type { Element.self }
}
