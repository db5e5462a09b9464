// The members of a template whose getter the library can call. Swift uses the default if the getter of a declared
// member throws, is asynchronous, or is mutating, as that of a lazy property is. The protocols below have the same
// members as those of TemplateMembers.swift, with plain getters. A template is refused if one of its members fulfills
// the requirement there, but not the requirement here.
//
// In both, the type of a member that a template does not declare is `_Unwritten`. The compiler prefers a candidate of the
// more refined protocol, so it prefers the placeholders to the defaults, and any declaration of a caller to both.
//
// Limit: if a module of the caller extends RequestTemplate with a constraint, such as `where Response == Int`, and the
// extension declares one of these members, then no template of that module gets the placeholder of that member.

/// The members of a template with getters that the library can call. Do not use its members.
public protocol _Getters: _AddressGetters, _ContentGetters, _SettingGetters {
    /// Whether the library cannot call the getter of a declared member.
    static var _hasUnreadableMember: Bool { get }
}

/// `path`, `baseURL`, `method` with a plain getter. Do not use its members.
public protocol _AddressGetters {
    /// The type of `path` if its getter can be called.
    associatedtype _PathGetter = _Unwritten
    /// The type of `baseURL` if its getter can be called.
    associatedtype _BaseURLGetter = _Unwritten
    /// The type of `method` if its getter can be called.
    associatedtype _MethodGetter = _Unwritten

    /// `path` with a plain getter.
    @_disfavoredOverload var path: _PathGetter { get }
    /// `baseURL` with a plain getter.
    @_disfavoredOverload var baseURL: _BaseURLGetter { get }
    /// `method` with a plain getter.
    @_disfavoredOverload var method: _MethodGetter { get }
}

/// `query`, `headers`, `parameters` with a plain getter. Do not use its members.
public protocol _ContentGetters {
    /// The type of `query` if its getter can be called.
    associatedtype _QueryGetter = _Unwritten
    /// The type of `headers` if its getter can be called.
    associatedtype _HeadersGetter = _Unwritten
    /// The type of `parameters` if its getter can be called.
    associatedtype _ParametersGetter = _Unwritten

    /// `query` with a plain getter.
    @_disfavoredOverload var query: _QueryGetter { get }
    /// `headers` with a plain getter.
    @_disfavoredOverload var headers: _HeadersGetter { get }
    /// `parameters` with a plain getter.
    @_disfavoredOverload var parameters: _ParametersGetter { get }
}

/// `boundary`, `acceptedStatuses`, `options` with a plain getter. Do not use its members.
public protocol _SettingGetters {
    /// The type of `boundary` if its getter can be called.
    associatedtype _BoundaryGetter = _Unwritten
    /// The type of `acceptedStatuses` if its getter can be called.
    associatedtype _AcceptedStatusesGetter = _Unwritten
    /// The type of `options` if its getter can be called.
    associatedtype _OptionsGetter = _Unwritten

    /// `boundary` with a plain getter.
    @_disfavoredOverload var boundary: _BoundaryGetter { get }
    /// `acceptedStatuses` with a plain getter.
    @_disfavoredOverload var acceptedStatuses: _AcceptedStatusesGetter { get }
    /// `options` with a plain getter.
    @_disfavoredOverload var options: _OptionsGetter { get }
}

/// The defaults of the members of a template. Do not use it.
public protocol _TemplateDefaults: _TemplateMembers {}

/// The placeholders for members that a template does not declare. Do not use it.
public protocol _TemplatePlaceholders: _TemplateDefaults {}

extension _TemplatePlaceholders {
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var baseURL: _Unwritten { _Unwritten() }
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var method: _Unwritten { _Unwritten() }
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var query: _Unwritten { _Unwritten() }
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var headers: _Unwritten { _Unwritten() }
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var parameters: _Unwritten { _Unwritten() }
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var boundary: _Unwritten { _Unwritten() }
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var acceptedStatuses: _Unwritten { _Unwritten() }
    /// A placeholder for templates that do not declare this member.
    @_disfavoredOverload public var options: _Unwritten { _Unwritten() }
}

extension RequestDecorator where _PathGetter == _Unwritten {
    /// A placeholder for decorators that do not declare this member.
    @_disfavoredOverload public var path: _Unwritten { _Unwritten() }
}

extension RequestDecorator where _BaseURLGetter == _Unwritten {
    /// A placeholder for decorators that do not declare this member.
    @_disfavoredOverload public var baseURL: _Unwritten { _Unwritten() }
}

extension RequestDecorator where _MethodGetter == _Unwritten {
    /// A placeholder for decorators that do not declare this member.
    @_disfavoredOverload public var method: _Unwritten { _Unwritten() }
}

extension RequestDecorator where _QueryGetter == _Unwritten {
    /// A placeholder for decorators that do not declare this member.
    @_disfavoredOverload public var query: _Unwritten { _Unwritten() }
}

extension RequestDecorator where _HeadersGetter == _Unwritten {
    /// A placeholder for decorators that do not declare this member.
    @_disfavoredOverload public var headers: _Unwritten { _Unwritten() }
}

extension RequestDecorator where _ParametersGetter == _Unwritten {
    /// A placeholder for decorators that do not declare this member.
    @_disfavoredOverload public var parameters: _Unwritten { _Unwritten() }
}

extension RequestDecorator where _BoundaryGetter == _Unwritten {
    /// A placeholder for decorators that do not declare this member.
    @_disfavoredOverload public var boundary: _Unwritten { _Unwritten() }
}

extension RequestDecorator where _AcceptedStatusesGetter == _Unwritten {
    /// A placeholder for decorators that do not declare this member.
    @_disfavoredOverload public var acceptedStatuses: _Unwritten { _Unwritten() }
}

extension RequestDecorator where _OptionsGetter == _Unwritten {
    /// A placeholder for decorators that do not declare this member.
    @_disfavoredOverload public var options: _Unwritten { _Unwritten() }
}

extension RequestTemplate {
    /// True if the library cannot call the getter of a declared member.
    public static var _hasUnreadableMember: Bool { true }
}

extension RequestTemplate
where
    _Path == _PathGetter, _BaseURL == _BaseURLGetter, _Method == _MethodGetter,
    _Query == _QueryGetter, _Headers == _HeadersGetter,
    _Parameters == _ParametersGetter, _Boundary == _BoundaryGetter,
    _AcceptedStatuses == _AcceptedStatusesGetter, _Options == _OptionsGetter, _Body == Body
{
    /// False if the library can call the getter of each declared member.
    public static var _hasUnreadableMember: Bool { false }
}

extension RequestTemplate {
    /// The error of a member whose getter the library cannot call; nil without one.
    static var unreadableMember: String? {
        // One check covers all members, because each request runs it and most templates have no such member.
        guard _hasUnreadableMember else { return nil }
        let members: [(name: String, declared: Any.Type, plain: Any.Type)] = [
            ("path", _Path.self, _PathGetter.self),
            ("baseURL", _BaseURL.self, _BaseURLGetter.self),
            ("method", _Method.self, _MethodGetter.self),
            ("query", _Query.self, _QueryGetter.self),
            ("headers", _Headers.self, _HeadersGetter.self),
            ("parameters", _Parameters.self, _ParametersGetter.self),
            ("boundary", _Boundary.self, _BoundaryGetter.self),
            ("acceptedStatuses", _AcceptedStatuses.self, _AcceptedStatusesGetter.self),
            ("options", _Options.self, _OptionsGetter.self),
            ("body", _Body.self, Body.self),
        ]
        return members.lazy.filter { $0.declared != $0.plain }
            .compactMap { MemberTypes.unreadable($0.name, of: Self.self) }.first
    }
}
