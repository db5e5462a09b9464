// SPDX-License-Identifier: MIT
import Synchronization

/// A state that several stubs share, to imitate a server that responds by what happened before.
///
/// ```swift
/// let cart = StubScenario("cart", initial: "empty")
/// stubs.on(GetCart.self, during: cart.state("empty")) { _ in Cart(items: []) }
/// stubs.on(AddItem.self, during: cart.state("empty", movesTo: "full")) { _ in .status(.created) }
/// stubs.on(GetCart.self, during: cart.state("full")) { _ in Cart(items: ["book"]) }
/// ```
///
/// A stub applies only while the scenario is in the state that the stub requires. The scenario changes its state before
/// the stub's closure runs, so two concurrent requests can't use the same transition.
public final class StubScenario: Sendable {
    // This type is a class because several stubs share one state.

    /// The scenario's name, for errors.
    public let name: String
    fileprivate let current: Mutex<String>

    /// Creates a scenario.
    ///
    /// - Parameters:
    ///   - name: the name, for errors.
    ///   - initial: the state at the start.
    public init(_ name: String, initial: String) {
        self.name = name
        current = Mutex(initial)
    }

    /// The current state. A test may set it.
    public var state: String {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Returns a stub's condition: the state that it requires, and the state that it moves the scenario to.
    ///
    /// - Parameters:
    ///   - required: the state that the stub requires.
    ///   - next: the new state, which is set before the stub's closure runs. Default: nil (the state doesn't change).
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

    /// Makes the transition. Returns false if the scenario has left the required state.
    func enter() -> Bool {
        scenario.current.withLock { state in
            guard state == required else { return false }
            state = next ?? state
            return true
        }
    }
}
