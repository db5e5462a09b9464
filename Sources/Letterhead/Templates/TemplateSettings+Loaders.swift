// The settings for the loaders, in the form of TemplateSettings.swift.

/// `serverEnvironment`, `redirectPolicy`, `isIdempotent` with any type. Do not use its members.
public protocol _RoutingSettings {
    /// The declared type of `serverEnvironment`.
    associatedtype _ServerEnvironment = _Unwritten
    /// The declared type of `redirectPolicy`.
    associatedtype _RedirectPolicy = _Unwritten
    /// The declared type of `isIdempotent`.
    associatedtype _IsIdempotent = _Unwritten

    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var serverEnvironment: _ServerEnvironment { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var redirectPolicy: _RedirectPolicy { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var isIdempotent: _IsIdempotent { get }
    /// Whether one of them is declared.
    static var _hasRoutingSettings: Bool { get }
}

extension _RoutingSettings {
    /// One is declared.
    public static var _hasRoutingSettings: Bool { true }
}

extension _RoutingSettings
where _ServerEnvironment == _Unwritten, _RedirectPolicy == _Unwritten, _IsIdempotent == _Unwritten {
    /// None is declared.
    public static var _hasRoutingSettings: Bool { false }
}

extension _RoutingSettings where _ServerEnvironment == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var serverEnvironment: _Unwritten { _Unwritten() }
}

extension _RoutingSettings where _RedirectPolicy == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var redirectPolicy: _Unwritten { _Unwritten() }
}

extension _RoutingSettings where _IsIdempotent == _Unwritten {
    /// Not declared.
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

    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var deduplication: _Deduplication { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var throttling: _Throttling { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var onRetry: _OnRetry { get }
    /// Whether one of them is declared.
    static var _hasSharingSettings: Bool { get }
}

extension _SharingSettings {
    /// One is declared.
    public static var _hasSharingSettings: Bool { true }
}

extension _SharingSettings where _Deduplication == _Unwritten, _Throttling == _Unwritten, _OnRetry == _Unwritten {
    /// None is declared.
    public static var _hasSharingSettings: Bool { false }
}

extension _SharingSettings where _Deduplication == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var deduplication: _Unwritten { _Unwritten() }
}

extension _SharingSettings where _Throttling == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var throttling: _Unwritten { _Unwritten() }
}

extension _SharingSettings where _OnRetry == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var onRetry: _Unwritten { _Unwritten() }
}

/// `onProgress`, `progressReport` with any type. Do not use its members.
public protocol _ProgressSettings {
    /// The declared type of `onProgress`.
    associatedtype _OnProgress = _Unwritten
    /// The declared type of `progressReport`.
    associatedtype _ProgressReport = _Unwritten

    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var onProgress: _OnProgress { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var progressReport: _ProgressReport { get }
    /// Whether one of them is declared.
    static var _hasProgressSettings: Bool { get }
}

extension _ProgressSettings {
    /// One is declared.
    public static var _hasProgressSettings: Bool { true }
}

extension _ProgressSettings where _OnProgress == _Unwritten, _ProgressReport == _Unwritten {
    /// None is declared.
    public static var _hasProgressSettings: Bool { false }
}

extension _ProgressSettings where _OnProgress == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var onProgress: _Unwritten { _Unwritten() }
}

extension _ProgressSettings where _ProgressReport == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var progressReport: _Unwritten { _Unwritten() }
}
