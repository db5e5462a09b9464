// The settings for the links, declared like those in TemplateSettings.swift.

/// `serverEnvironment`, `redirectPolicy`, `isIdempotent` with any type. Do not use its members.
public protocol _RoutingSettings {
    /// The declared type of `serverEnvironment`.
    associatedtype _ServerEnvironment = _Unwritten
    /// The declared type of `redirectPolicy`.
    associatedtype _RedirectPolicy = _Unwritten
    /// The declared type of `isIdempotent`.
    associatedtype _IsIdempotent = _Unwritten

    /// A setting that only modifiers can set.
    @_disfavoredOverload var serverEnvironment: _ServerEnvironment { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var redirectPolicy: _RedirectPolicy { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var isIdempotent: _IsIdempotent { mutating get async throws }
    /// Whether one of them is declared.
    static var _hasRoutingSettings: Bool { get }
}

extension _RoutingSettings {
    /// True if a template declares one of these settings.
    public static var _hasRoutingSettings: Bool { true }
}

extension _RoutingSettings
where _ServerEnvironment == _Unwritten, _RedirectPolicy == _Unwritten, _IsIdempotent == _Unwritten {
    /// False if a template declares none of these settings.
    public static var _hasRoutingSettings: Bool { false }
}

extension _RoutingSettings where _ServerEnvironment == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var serverEnvironment: _Unwritten { _Unwritten() }
}

extension _RoutingSettings where _RedirectPolicy == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var redirectPolicy: _Unwritten { _Unwritten() }
}

extension _RoutingSettings where _IsIdempotent == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var isIdempotent: _Unwritten { _Unwritten() }
}

/// `deduplication`, `throttling`, `onRetry` with any type. Do not use its members.
public protocol _SharingSettings {
    /// The declared type of `deduplication`.
    associatedtype _Deduplication = _Unwritten
    /// The declared type of `throttling`.
    associatedtype _Throttling = _Unwritten
    /// The declared type of `onRetry`.
    associatedtype _OnRetry = _Unwritten

    /// A setting that only modifiers can set.
    @_disfavoredOverload var deduplication: _Deduplication { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var throttling: _Throttling { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var onRetry: _OnRetry { mutating get async throws }
    /// Whether one of them is declared.
    static var _hasSharingSettings: Bool { get }
}

extension _SharingSettings {
    /// True if a template declares one of these settings.
    public static var _hasSharingSettings: Bool { true }
}

extension _SharingSettings where _Deduplication == _Unwritten, _Throttling == _Unwritten, _OnRetry == _Unwritten {
    /// False if a template declares none of these settings.
    public static var _hasSharingSettings: Bool { false }
}

extension _SharingSettings where _Deduplication == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var deduplication: _Unwritten { _Unwritten() }
}

extension _SharingSettings where _Throttling == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var throttling: _Unwritten { _Unwritten() }
}

extension _SharingSettings where _OnRetry == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var onRetry: _Unwritten { _Unwritten() }
}

/// `onProgress`, `progressReport` with any type. Do not use its members.
public protocol _ProgressSettings {
    /// The declared type of `onProgress`.
    associatedtype _OnProgress = _Unwritten
    /// The declared type of `progressReport`.
    associatedtype _ProgressReport = _Unwritten

    /// A setting that only modifiers can set.
    @_disfavoredOverload var onProgress: _OnProgress { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var progressReport: _ProgressReport { mutating get async throws }
    /// Whether one of them is declared.
    static var _hasProgressSettings: Bool { get }
}

extension _ProgressSettings {
    /// True if a template declares one of these settings.
    public static var _hasProgressSettings: Bool { true }
}

extension _ProgressSettings where _OnProgress == _Unwritten, _ProgressReport == _Unwritten {
    /// False if a template declares none of these settings.
    public static var _hasProgressSettings: Bool { false }
}

extension _ProgressSettings where _OnProgress == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var onProgress: _Unwritten { _Unwritten() }
}

extension _ProgressSettings where _ProgressReport == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var progressReport: _Unwritten { _Unwritten() }
}
