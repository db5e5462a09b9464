// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting

/// A value that tests make with a change.
protocol Changeable {}

extension Changeable {
    func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

extension HTTPRequest: Changeable {}
extension MockServer.Configuration: Changeable {}
extension TransportConfiguration: Changeable {}
