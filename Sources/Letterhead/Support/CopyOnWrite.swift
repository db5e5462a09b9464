// SPDX-License-Identifier: MIT
/// A large value. Copies share it until one changes it.
///
/// Copying the wrapper copies one reference. Only changing a shared value copies its parts.
@propertyWrapper
struct CopyOnWrite<Value: Sendable>: Sendable {
    /// `@unchecked`: its value is changed only while the box has a single owner. Exclusivity is unchecked, because only
    /// the variable that contains the wrapper leads to it, and Swift checks that variable.
    private final class Box: @unchecked Sendable {
        @safe @exclusivity(unchecked) var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    init(wrappedValue: Value) { box = Box(wrappedValue) }

    /// The value. It is read and changed in place, so that changing an array in it doesn't copy the array.
    var wrappedValue: Value {
        @inline(__always) _read { yield box.value }
        @inline(__always) _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}

/// Returns a value with changes: `changed(request) { $0.timeout = nil }`.
@inline(__always)
func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var value = value
    change(&value)
    return value
}
