// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// An error of the test kit, whose description is for people.
struct PlainFailure: LocalizedError, CustomStringConvertible {
    let description: String
    var errorDescription: String? { description }

    init(_ description: String) { self.description = description }
}
