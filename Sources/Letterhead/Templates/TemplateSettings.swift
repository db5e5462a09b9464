// The settings of a request, with the names of the properties of HTTPRequest. A template that declared one of them
// would be sent without it. TemplateMembers.swift explains why there are several protocols.

/// Settings that resemble members of a template, but that the library does not read from it. Do not use its members.
public protocol _Settings: _LimitSettings, _SigningSettings, _JudgingSettings, _ReadingSettings,
    _RoutingSettings, _SharingSettings, _ProgressSettings
{}

/// A type whose values are settings of a request, such as a validator. A member of a template with the name of the
/// setting and such a type is refused. Do not conform to it.
public protocol _SettingValue {}

/// `connectTimeout`, `idleTimeout`, `responseLimit`, `maximumRetries` with any type. Do not use its members.
public protocol _LimitSettings {
    /// The declared type of `connectTimeout`.
    associatedtype _ConnectTimeout = _Unwritten
    /// The declared type of `idleTimeout`.
    associatedtype _IdleTimeout = _Unwritten
    /// The declared type of `responseLimit`.
    associatedtype _ResponseLimit = _Unwritten
    /// The declared type of `maximumRetries`.
    associatedtype _MaximumRetries = _Unwritten

    /// A setting that only modifiers can set.
    @_disfavoredOverload var connectTimeout: _ConnectTimeout { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var idleTimeout: _IdleTimeout { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var responseLimit: _ResponseLimit { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var maximumRetries: _MaximumRetries { mutating get async throws }
    /// Whether one of them is declared.
    static var _hasLimitSettings: Bool { get }
}

extension _LimitSettings {
    /// True if a template declares one of these settings.
    public static var _hasLimitSettings: Bool { true }
}

extension _LimitSettings
where
    _ConnectTimeout == _Unwritten, _IdleTimeout == _Unwritten, _ResponseLimit == _Unwritten,
    _MaximumRetries == _Unwritten
{
    /// False if a template declares none of these settings.
    public static var _hasLimitSettings: Bool { false }
}

extension _LimitSettings where _ConnectTimeout == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var connectTimeout: _Unwritten { _Unwritten() }
}

extension _LimitSettings where _IdleTimeout == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var idleTimeout: _Unwritten { _Unwritten() }
}

extension _LimitSettings where _ResponseLimit == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var responseLimit: _Unwritten { _Unwritten() }
}

extension _LimitSettings where _MaximumRetries == _Unwritten {
    /// A placeholder for templates that do not declare this member.
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

    /// A setting that only modifiers can set.
    @_disfavoredOverload var authentication: _Authentication { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var requiredScopes: _RequiredScopes { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var isSecret: _IsSecret { mutating get async throws }
    /// Whether one of them is declared.
    static var _hasSigningSettings: Bool { get }
}

extension _SigningSettings {
    /// True if a template declares one of these settings.
    public static var _hasSigningSettings: Bool { true }
}

extension _SigningSettings where _Authentication == _Unwritten, _RequiredScopes == _Unwritten, _IsSecret == _Unwritten {
    /// False if a template declares none of these settings.
    public static var _hasSigningSettings: Bool { false }
}

extension _SigningSettings where _Authentication == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var authentication: _Unwritten { _Unwritten() }
}

extension _SigningSettings where _RequiredScopes == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var requiredScopes: _Unwritten { _Unwritten() }
}

extension _SigningSettings where _IsSecret == _Unwritten {
    /// A placeholder for templates that do not declare this member.
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

    /// A setting that only modifiers can set.
    @_disfavoredOverload var validators: _Validators { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var responseTransformers: _ResponseTransformers { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var retryStrategy: _RetryStrategy { mutating get async throws }
    /// Whether one of them is declared.
    static var _hasJudgingSettings: Bool { get }
}

extension _JudgingSettings {
    /// True if a template declares one of these settings.
    public static var _hasJudgingSettings: Bool { true }
}

extension _JudgingSettings
where _Validators == _Unwritten, _ResponseTransformers == _Unwritten, _RetryStrategy == _Unwritten {
    /// False if a template declares none of these settings.
    public static var _hasJudgingSettings: Bool { false }
}

extension _JudgingSettings where _Validators == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var validators: _Unwritten { _Unwritten() }
}

extension _JudgingSettings where _ResponseTransformers == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var responseTransformers: _Unwritten { _Unwritten() }
}

extension _JudgingSettings where _RetryStrategy == _Unwritten {
    /// A placeholder for templates that do not declare this member.
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

    /// A setting that only modifiers can set.
    @_disfavoredOverload var decoder: _Decoder { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var responseDelivery: _ResponseDelivery { mutating get async throws }
    /// A setting that only modifiers can set.
    @_disfavoredOverload var redaction: _Redaction { mutating get async throws }
    /// Whether one of them is declared.
    static var _hasReadingSettings: Bool { get }
}

extension _ReadingSettings {
    /// True if a template declares one of these settings.
    public static var _hasReadingSettings: Bool { true }
}

extension _ReadingSettings where _Decoder == _Unwritten, _ResponseDelivery == _Unwritten, _Redaction == _Unwritten {
    /// False if a template declares none of these settings.
    public static var _hasReadingSettings: Bool { false }
}

extension _ReadingSettings where _Decoder == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var decoder: _Unwritten { _Unwritten() }
}

extension _ReadingSettings where _ResponseDelivery == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var responseDelivery: _Unwritten { _Unwritten() }
}

extension _ReadingSettings where _Redaction == _Unwritten {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var redaction: _Unwritten { _Unwritten() }
}
