// SPDX-License-Identifier: MIT
public import Letterhead
import Synchronization

// If an argument is wrong, the compiler should report the mistake where it is in the closure. It can do so only if it
// can exclude the other functions with the same name. Functions with closures that return values are therefore
// disfavored. Functions that take a template have more generic parameters than they need. Without these, the compiler
// would take a type for a template that lacks its conformance.

extension StubLoader {
    /// The answer to a request that matches a ``StubRoute``.
    public typealias RouteAnswer = StubAnswer<AnyTemplate<HTTPResponse>>

    /// Adds a stub that responds to an endpoint with `Response` values.
    ///
    /// ```swift
    /// stubs.on(GetUser.self) { template in User(login: template.login) }
    /// stubs.on(GetUser.self, times: 1, where: { $0.login == "ada" }) { _ in ada }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the endpoint type. Decorated templates match, too.
    ///   - times: how many calls the stub expects and answers. Default: at least one.
    ///   - condition: restricts the stub to some templates. Default: nil (all templates).
    ///   - state: the scenario state that the stub requires. Default: nil (always).
    ///   - answer: returns the value. If it throws an error, the request fails with this error, as with an error from a
    ///     transport.
    @_disfavoredOverload
    @discardableResult
    public func on<Template: RequestTemplate>(
        _ type: Template.Type, times: StubTimes = .atLeastOnce,
        where condition: (@Sendable (Template) -> Bool)? = nil, during state: StubState? = nil,
        _ answer: @escaping @Sendable (Template) async throws -> Template.Response
    ) -> StubLoader {
        add(Stub(of: type, times, where: condition, state) { template, _ in .value(try await answer(template)) })
    }

    /// Adds a stub that responds to an endpoint with a ``StubAnswer``, such as a status, a failure, an error or a
    /// delay.
    ///
    /// ```swift
    /// stubs.on(DeleteUser.self, times: 1) { _ in .status(.noContent) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the endpoint type. Decorated templates match, too.
    ///   - times: how many calls the stub expects and answers. Default: at least one.
    ///   - condition: restricts the stub to some templates. Default: nil (all templates).
    ///   - state: the scenario state that the stub requires. Default: nil (always).
    ///   - answer: returns the answer. If it throws an error, the request fails with this error, as with an error from
    ///     a transport.
    @discardableResult
    public func on<Template: RequestTemplate>(
        _ type: Template.Type, times: StubTimes = .atLeastOnce,
        where condition: (@Sendable (Template) -> Bool)? = nil, during state: StubState? = nil,
        _ answer: @escaping @Sendable (Template) async throws -> StubAnswer<Template>
    ) -> StubLoader {
        add(Stub(of: type, times, where: condition, state) { template, _ in try await answer(template) })
    }

    /// Adds a stub that responds to calls of an endpoint with one answer after the other. It expects exactly one call
    /// for each answer.
    ///
    /// ```swift
    /// stubs.on(GetUser.self, inOrder: .status(.serviceUnavailable), .value(ada))
    /// ```
    @discardableResult
    public func on<Template: RequestTemplate>(
        _ type: Template.Type, inOrder first: StubAnswer<Template>, _ more: StubAnswer<Template>...
    ) -> StubLoader {
        add(Stub(of: type, .exactly(1 + more.count), nil, inOrder([first] + more)))
    }

    /// Adds a stub that responds to one endpoint with a `Response` value. The endpoint is declared by a template.
    ///
    /// Use it for endpoints that share a type, such as `Get<User>`, or to return a different value for a single call.
    ///
    /// ```swift
    /// stubs.on(.user("ada")) { _ in ada }
    /// stubs.on(GetUser(login: "grace"), times: 1) { _ in grace }
    /// ```
    ///
    /// The stub matches requests with the same method, path, query and body as the template request. It ignores
    /// headers, settings and decorators of the template that was sent. Decorators of the template that you pass count:
    /// with `.user("ada").query("full", true)`, the stub matches only requests with this query item. If the template
    /// can't build its request, the stub matches nothing, and ``verify()`` reports it.
    ///
    /// - Parameters:
    ///   - template: the template.
    ///   - times: how many calls the stub expects and answers. Default: at least one.
    ///   - state: the scenario state that the stub requires. Default: nil (always).
    ///   - answer: returns the value. If it throws an error, the request fails with this error, as with an error from a
    ///     transport.
    @_disfavoredOverload
    @discardableResult
    public func on<Template: RequestTemplate, Response, Failure>(
        _ template: Template, times: StubTimes = .atLeastOnce, during state: StubState? = nil,
        _ answer: @escaping @Sendable (Template) async throws -> Template.Response
    ) -> StubLoader where Template.Response == Response, Template.Failure == Failure {
        add(Stub(of: template, times, state) { template, _ in .value(try await answer(template)) })
    }

    /// Adds a stub that responds to one endpoint with a ``StubAnswer``. It matches like a stub that returns a value.
    ///
    /// ```swift
    /// stubs.on(.user("ada")) { _ in .status(.notFound) }
    /// ```
    @discardableResult
    public func on<Template: RequestTemplate, Response, Failure>(
        _ template: Template, times: StubTimes = .atLeastOnce, during state: StubState? = nil,
        _ answer: @escaping @Sendable (Template) async throws -> StubAnswer<Template>
    ) -> StubLoader where Template.Response == Response, Template.Failure == Failure {
        add(Stub(of: template, times, state) { template, _ in try await answer(template) })
    }

    /// Adds a stub that responds to calls of one endpoint with one answer after the other. It expects exactly one call
    /// for each answer.
    @discardableResult
    public func on<Template: RequestTemplate>(
        _ template: Template, inOrder first: StubAnswer<Template>, _ more: StubAnswer<Template>...
    ) -> StubLoader {
        add(Stub(of: template, .exactly(1 + more.count), nil, inOrder([first] + more)))
    }

    /// Adds a stub that responds to requests that match a route.
    ///
    /// ```swift
    /// stubs.on(.get("/users/{login}")) { call in .json(User(login: call["login"])) }
    /// ```
    ///
    /// - Parameters:
    ///   - route: the route.
    ///   - times: how many calls the stub expects and answers. Default: at least one.
    ///   - state: the scenario state that the stub requires. Default: nil (always).
    ///   - answer: returns the answer. If it throws an error, the request fails with this error, as with an error from
    ///     a transport.
    @discardableResult
    public func on(
        _ route: StubRoute, times: StubTimes = .atLeastOnce, during state: StubState? = nil,
        _ answer: @escaping @Sendable (StubRequest) async throws -> RouteAnswer
    ) -> StubLoader {
        add(Stub(of: route, times, state) { call, _ in try await answer(call) })
    }

    /// Adds a stub that responds to requests for a route with one answer after the other. It expects exactly one call
    /// for each answer.
    @discardableResult
    public func on(_ route: StubRoute, inOrder first: RouteAnswer, _ more: RouteAnswer...) -> StubLoader {
        add(Stub(of: route, .exactly(1 + more.count), nil, inOrder([first] + more)))
    }

    private func add(_ stub: Stub) -> StubLoader {
        board.add(stub, isOverride: isOverriding)
        return self
    }
}

/// Returns a closure that returns one answer after the other.
private func inOrder<Call, Template>(
    _ answers: [StubAnswer<Template>]
) -> @Sendable (Call, Int) async throws -> StubAnswer<Template> {
    { _, turn in answers[min(turn, answers.count - 1)] }
}

/// How many calls a stub expects, and how many it answers.
///
/// ```swift
/// stubs.on(DeleteUser.self, times: 1) { _ in .status(.noContent) }
/// stubs.on(GetUser.self, times: .any) { User(login: $0.login) }
/// ```
///
/// After the maximum number of calls, the stub doesn't answer further requests. If there were fewer calls than the
/// minimum, ``StubLoader/verify()`` throws an error.
public struct StubTimes: Sendable, Hashable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    let least: Int
    let most: Int

    private init(_ least: Int, _ most: Int) { (self.least, self.most) = (max(0, least), max(0, most)) }

    /// Any number of calls, including no call.
    public static let any = StubTimes(0, .max)
    /// One call or more. This is the default.
    public static let atLeastOnce = StubTimes(1, .max)
    /// No call. A matching request is an error, even if a stub that was added later would answer it.
    public static let never = StubTimes(0, 0)

    /// Exactly this number of calls. A negative number counts as zero.
    public static func exactly(_ count: Int) -> StubTimes { StubTimes(count, count) }

    /// A number of calls in this range.
    public static func between(_ range: ClosedRange<Int>) -> StubTimes { StubTimes(range.lowerBound, range.upperBound) }

    /// Creates an exact number of calls, as in `times: 1`.
    public init(integerLiteral value: Int) { self.init(value, value) }

    /// The text for error messages: `once`, `2 times`, `at least once`.
    public var description: String {
        if most == .max { return least == 0 ? "any number of times" : "at least \(Self.times(least))" }
        return least == most ? Self.times(least) : "\(least) to \(Self.times(most))"
    }

    static func times(_ count: Int) -> String {
        switch count {
        case 0: "never"
        case 1: "once"
        default: "\(count) times"
        }
    }
}

/// A state that several stubs share, to imitate a server that responds depending on what happened before.
///
/// ```swift
/// let cart = StubScenario("cart", initial: "empty")
/// stubs.on(GetCart.self, during: cart.state("empty")) { _ in Cart(items: []) }
/// stubs.on(AddItem.self, during: cart.state("empty", movesTo: "full")) { _ in .status(.created) }
/// stubs.on(GetCart.self, during: cart.state("full")) { _ in Cart(items: ["book"]) }
/// ```
///
/// A stub applies only while the scenario is in the state that the stub requires. The scenario changes its state before
/// the stub closure runs, so two concurrent requests can't use the same transition.
public final class StubScenario: Sendable {
    // This type is a class because several stubs share one state.

    /// The name of the scenario, which errors contain.
    public let name: String
    fileprivate let current: Mutex<String>

    /// Creates a scenario.
    ///
    /// - Parameters:
    ///   - name: the name, which errors contain.
    ///   - initial: the state at the start.
    public init(_ name: String, initial: String) {
        self.name = name
        current = Mutex(initial)
    }

    /// The current state. A test can set it.
    public var state: String {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Returns a condition for a stub: the state that it requires, and the state that it moves the scenario to.
    ///
    /// - Parameters:
    ///   - required: the state that the stub requires.
    ///   - next: the new state. It's set before the stub closure runs. Default: nil (the state doesn't change).
    public func state(_ required: String, movesTo next: String? = nil) -> StubState {
        StubState(scenario: self, required: required, next: next)
    }
}

/// The ``StubScenario`` state that a stub requires. Create it with ``StubScenario/state(_:movesTo:)``.
public struct StubState: Sendable {
    let scenario: StubScenario
    let required: String
    let next: String?

    /// The reason why a stub doesn't apply now, or nil if it does.
    var difference: String? {
        let state = scenario.state
        guard state != required else { return nil }
        return "the scenario \(scenario.name) is in state \"\(state)\", not \"\(required)\""
    }

    /// Moves the scenario to the next state. Returns false if it has left the required state.
    func enter() -> Bool {
        scenario.current.withLock { state in
            guard state == required else { return false }
            state = next ?? state
            return true
        }
    }
}
