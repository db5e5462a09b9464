import Synchronization

/// The loads of one page sequence: the first of them is the parent of the others. This type is a class because all pages
/// share it.
final class PageFamily: Sendable {
    private let first = Atomic<Int>(0)

    /// The load of the first page; nil before it.
    var parent: Int? {
        let load = first.load(ordering: .relaxed)
        return load == 0 ? nil : load
    }

    /// Notes the load of a page.
    func join(_ load: Int) { _ = first.compareExchange(expected: 0, desired: load, ordering: .relaxed) }
}
