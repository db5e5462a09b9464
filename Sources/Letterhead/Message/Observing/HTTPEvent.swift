/// One event of a load, with its facts. Secrets are redacted.
///
/// ```swift
/// if event.name == .exchangeEnd, let status = event[.status], let duration = event[.duration] {
///     histogram.record(duration, route: event.route ?? "none", status: status)
/// }
/// ```
///
/// Later versions of the library can add names and facts. A custom link records its own events with
/// ``HTTPRequest/record(_:_:)``.
public struct HTTPEvent: Sendable, CustomStringConvertible {
    /// The name, such as ``Name/exchangeEnd``. <doc:ObservingAClient> lists the names and their facts.
    public let name: Name
    /// The number of the load, which is unique in the process.
    public let load: Int
    /// The number of the load on whose behalf this one is sent: the first page of a page sequence, or the load that
    /// needs a token or an alternate request. Nil for a load that is not sent on behalf of another one.
    public let parent: Int?
    /// The number of the attempt, starting at 1; 0 before the first attempt.
    public let attempt: Int
    /// The time since the client was created, on a monotonic clock.
    public let time: Duration
    /// The name of the template's type without its decorators; nil for a request without a template.
    public let template: String?
    /// The path without its values, such as `users/{}/followers`; nil if it is not known. See
    /// ``RequestPath/route``.
    public let route: String?
    /// The facts in the order in which they were set.
    public private(set) var facts: [(name: String, value: any Sendable)] = []

    /// Creates an event without facts, for tests of observers.
    public init(
        _ name: Name, load: Int = 1, parent: Int? = nil, attempt: Int = 0, time: Duration = .zero,
        template: String? = nil, route: String? = nil
    ) {
        (self.name, self.load, self.parent, self.attempt) = (name, load, parent, attempt)
        (self.time, self.template, self.route) = (time, template, route)
    }

    /// The value of a fact; nil if the event does not have it.
    public subscript<Value: Sendable>(fact: Fact<Value>) -> Value? {
        get { facts.first { $0.name == fact.name }?.value as? Value }
        set {
            facts.removeAll { $0.name == fact.name }
            if let newValue { facts.append((fact.name, newValue)) }
        }
    }

    /// The numbers of the load and the attempt, the time, the name, the route and the facts, on one line.
    public var description: String {
        var text = "\(time.milliseconds) load \(load)" + (parent.map { " of \($0)" } ?? "")
        if attempt > 0 { text += " attempt \(attempt)" }
        text += " \(Redaction.visible(name.rawValue))" + (route.map { " " + Redaction.visible($0) } ?? "")
        for fact in facts { text += " \(fact.name)=\(Self.text(of: fact.value))" }
        return text
    }

    private static func text(of value: any Sendable) -> String {
        switch value {
        case let duration as Duration: duration.milliseconds
        case let list as [String]: "[" + list.map(Redaction.visible).joined(separator: ", ") + "]"
        default: Redaction.visible("\(value)")
        }
    }
}

extension HTTPEvent {
    /// The name of a fact and the type of its value.
    ///
    /// To declare a fact of a custom event, extend the type:
    ///
    /// ```swift
    /// extension HTTPEvent.Fact where Value == Int {
    ///     static var shard: Self { Self("shard") }
    /// }
    /// ```
    public struct Fact<Value: Sendable>: Sendable {
        /// The name of the fact, as it is written in descriptions.
        public let name: String

        /// Creates a fact.
        public init(_ name: String) { self.name = name }
    }
}

extension Duration {
    /// The duration in milliseconds with one digit after the point: `12.3 ms`.
    package var milliseconds: String {
        let tenths = Int64(min(max(self / .microseconds(100), -9e18), 9e18))
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10) ms"
    }
}
