// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// An error with a description that people can read.
struct PlainFailure: LocalizedError, CustomStringConvertible {
    let description: String
    var errorDescription: String? { description }

    init(_ description: String) { self.description = description }
}
