// SPDX-License-Identifier: MIT
/// A large value that its copies share until one of them is changed.
///
/// A copy of the wrapper copies one reference. Only a change of a value that is shared copies its parts.
@propertyWrapper
struct CopyOnWrite<Value: Sendable>: Sendable {
    /// `@unchecked`: its value is changed only while the box has a single owner. The exclusivity of the value is
    /// unchecked, because it is reached only through the variable that contains the wrapper, which Swift checks.
    private final class Box: @unchecked Sendable {
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    init(wrappedValue: Value) { box = Box(wrappedValue) }

    /// The value. It is read and changed in place, so that a change of one of its arrays doesn't copy the array.
    var wrappedValue: Value {
        @inline(__always) _read { yield box.value }
        @inline(__always) _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}
