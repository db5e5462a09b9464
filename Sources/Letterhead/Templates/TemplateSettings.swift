// The settings of a request under the names of the properties of HTTPRequest. A template that declares one of them would be
// sent without it. The protocols are several for the reason that TemplateMembers.swift states.

/// Settings that look like members of a template and are not. Do not use its members.
public protocol _Settings: _LimitSettings, _SigningSettings, _JudgingSettings, _ReadingSettings,
    _RoutingSettings, _SharingSettings, _ProgressSettings
{}

/// `idleTimeout`, `responseLimit`, `maximumRetries` with any type. Do not use its members.
public protocol _LimitSettings {
    /// The declared type of `idleTimeout`.
    associatedtype _IdleTimeout = _Unwritten
    /// The declared type of `responseLimit`.
    associatedtype _ResponseLimit = _Unwritten
    /// The declared type of `maximumRetries`.
    associatedtype _MaximumRetries = _Unwritten

    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var idleTimeout: _IdleTimeout { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var responseLimit: _ResponseLimit { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var maximumRetries: _MaximumRetries { get }
    /// Whether one of them is declared.
    static var _hasLimitSettings: Bool { get }
}

extension _LimitSettings {
    /// One is declared.
    public static var _hasLimitSettings: Bool { true }
}

extension _LimitSettings where _IdleTimeout == _Unwritten, _ResponseLimit == _Unwritten, _MaximumRetries == _Unwritten {
    /// None is declared.
    public static var _hasLimitSettings: Bool { false }
}

extension _LimitSettings where _IdleTimeout == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var idleTimeout: _Unwritten { _Unwritten() }
}

extension _LimitSettings where _ResponseLimit == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var responseLimit: _Unwritten { _Unwritten() }
}

extension _LimitSettings where _MaximumRetries == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var maximumRetries: _Unwritten { _Unwritten() }
}

/// `authentication`, `requiredScopes`, `isSecret` with any type. Do not use its members.
public protocol _SigningSettings {
    /// The declared type of `authentication`.
    associatedtype _Authentication = _Unwritten
    /// The declared type of `requiredScopes`.
    associatedtype _RequiredScopes = _Unwritten
    /// The declared type of `isSecret`.
    associatedtype _IsSecret = _Unwritten

    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var authentication: _Authentication { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var requiredScopes: _RequiredScopes { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var isSecret: _IsSecret { get }
    /// Whether one of them is declared.
    static var _hasSigningSettings: Bool { get }
}

extension _SigningSettings {
    /// One is declared.
    public static var _hasSigningSettings: Bool { true }
}

extension _SigningSettings where _Authentication == _Unwritten, _RequiredScopes == _Unwritten, _IsSecret == _Unwritten {
    /// None is declared.
    public static var _hasSigningSettings: Bool { false }
}

extension _SigningSettings where _Authentication == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var authentication: _Unwritten { _Unwritten() }
}

extension _SigningSettings where _RequiredScopes == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var requiredScopes: _Unwritten { _Unwritten() }
}

extension _SigningSettings where _IsSecret == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var isSecret: _Unwritten { _Unwritten() }
}

/// `validators`, `responseTransformers`, `retryStrategy` with any type. Do not use its members.
public protocol _JudgingSettings {
    /// The declared type of `validators`.
    associatedtype _Validators = _Unwritten
    /// The declared type of `responseTransformers`.
    associatedtype _ResponseTransformers = _Unwritten
    /// The declared type of `retryStrategy`.
    associatedtype _RetryStrategy = _Unwritten

    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var validators: _Validators { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var responseTransformers: _ResponseTransformers { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var retryStrategy: _RetryStrategy { get }
    /// Whether one of them is declared.
    static var _hasJudgingSettings: Bool { get }
}

extension _JudgingSettings {
    /// One is declared.
    public static var _hasJudgingSettings: Bool { true }
}

extension _JudgingSettings
where _Validators == _Unwritten, _ResponseTransformers == _Unwritten, _RetryStrategy == _Unwritten {
    /// None is declared.
    public static var _hasJudgingSettings: Bool { false }
}

extension _JudgingSettings where _Validators == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var validators: _Unwritten { _Unwritten() }
}

extension _JudgingSettings where _ResponseTransformers == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var responseTransformers: _Unwritten { _Unwritten() }
}

extension _JudgingSettings where _RetryStrategy == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var retryStrategy: _Unwritten { _Unwritten() }
}

/// `decoder`, `responseDelivery`, `redaction` with any type. Do not use its members.
public protocol _ReadingSettings {
    /// The declared type of `decoder`.
    associatedtype _Decoder = _Unwritten
    /// The declared type of `responseDelivery`.
    associatedtype _ResponseDelivery = _Unwritten
    /// The declared type of `redaction`.
    associatedtype _Redaction = _Unwritten

    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var decoder: _Decoder { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var responseDelivery: _ResponseDelivery { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var redaction: _Redaction { get }
    /// Whether one of them is declared.
    static var _hasReadingSettings: Bool { get }
}

extension _ReadingSettings {
    /// One is declared.
    public static var _hasReadingSettings: Bool { true }
}

extension _ReadingSettings where _Decoder == _Unwritten, _ResponseDelivery == _Unwritten, _Redaction == _Unwritten {
    /// None is declared.
    public static var _hasReadingSettings: Bool { false }
}

extension _ReadingSettings where _Decoder == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var decoder: _Unwritten { _Unwritten() }
}

extension _ReadingSettings where _ResponseDelivery == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var responseDelivery: _Unwritten { _Unwritten() }
}

extension _ReadingSettings where _Redaction == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var redaction: _Unwritten { _Unwritten() }
}

/// `serverEnvironment`, `redirectPolicy`, `idempotency` with any type. Do not use its members.
public protocol _RoutingSettings {
    /// The declared type of `serverEnvironment`.
    associatedtype _ServerEnvironment = _Unwritten
    /// The declared type of `redirectPolicy`.
    associatedtype _RedirectPolicy = _Unwritten
    /// The declared type of `idempotency`.
    associatedtype _Idempotency = _Unwritten

    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var serverEnvironment: _ServerEnvironment { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var redirectPolicy: _RedirectPolicy { get }
    /// A modifier sets it, and a template cannot declare it.
    @_disfavoredOverload var idempotency: _Idempotency { get }
    /// Whether one of them is declared.
    static var _hasRoutingSettings: Bool { get }
}

extension _RoutingSettings {
    /// One is declared.
    public static var _hasRoutingSettings: Bool { true }
}

extension _RoutingSettings
where _ServerEnvironment == _Unwritten, _RedirectPolicy == _Unwritten, _Idempotency == _Unwritten {
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

extension _RoutingSettings where _Idempotency == _Unwritten {
    /// Not declared.
    @_disfavoredOverload public var idempotency: _Unwritten { _Unwritten() }
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
