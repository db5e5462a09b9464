// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// An error with a description for people.
struct PlainFailure: LocalizedError, CustomStringConvertible {
    let description: String
    var errorDescription: String? { description }

    init(_ description: String) { self.description = description }
}
