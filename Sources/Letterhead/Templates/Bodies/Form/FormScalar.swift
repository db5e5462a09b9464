// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A value that is written as a single string.
protocol FormScalar {
    func text(_ style: FormEncoder, at path: FormPath) throws -> String
}

extension String: FormScalar {
    func text(_ style: FormEncoder, at path: FormPath) -> String { self }
}

extension Bool: FormScalar {
    func text(_ style: FormEncoder, at path: FormPath) -> String { text }

    var text: String { self ? "true" : "false" }
}

extension FormScalar where Self: BinaryInteger {
    func text(_ style: FormEncoder, at path: FormPath) -> String { String(self) }
}

extension FormScalar where Self: BinaryFloatingPoint & LosslessStringConvertible {
    func text(_ style: FormEncoder, at path: FormPath) throws -> String {
        guard isFinite else { throw path.error(self, "The number is not finite.") }
        return finiteText
    }

    /// A string that is parsed as the same number. A whole number in the range of `Int64` is written with all digits
    /// and without a fraction.
    var finiteText: String { Int64(exactly: self).map { String($0) } ?? String(self) }
}

extension Int: FormScalar {}
extension Int8: FormScalar {}
extension Int16: FormScalar {}
extension Int32: FormScalar {}
extension Int64: FormScalar {}
extension UInt: FormScalar {}
extension UInt8: FormScalar {}
extension UInt16: FormScalar {}
extension UInt32: FormScalar {}
extension UInt64: FormScalar {}
extension Float: FormScalar {}
extension Double: FormScalar {}

extension Decimal: FormScalar {
    func text(_ style: FormEncoder, at path: FormPath) throws -> String {
        guard isFinite else { throw path.error(self, "The number is not finite.") }
        return description
    }
}

extension Date: FormScalar {
    func text(_ style: FormEncoder, at path: FormPath) throws -> String {
        switch style.dates {
        case .iso8601:
            // The error contains the number instead of the date, because describing such a date would crash.
            if let text = internetTime {
                text
            } else {
                throw path.error(timeIntervalSince1970, "The date is not in the years 0...9999.")
            }
        case .seconds: try timeIntervalSince1970.text(style, at: path)
        case .milliseconds: try (timeIntervalSince1970 * 1000).rounded().text(style, at: path)
        }
    }
}

extension Data: FormScalar {
    func text(_ style: FormEncoder, at path: FormPath) -> String { base64EncodedString() }
}

extension URL: FormScalar {
    func text(_ style: FormEncoder, at path: FormPath) -> String { absoluteString }
}

/// A dictionary whose keys are strings or numbers. It is sorted, because the order of a dictionary differs between
/// processes.
protocol SortedForm {
    var sorted: [(key: String, value: any Encodable)] { get }
}

extension Dictionary: SortedForm where Key: CodingKeyRepresentable, Value: Encodable {
    var sorted: [(key: String, value: any Encodable)] {
        map { (key: $0.key.codingKey.stringValue, value: $0.value) }.sorted { $0.key < $1.key }
    }
}

extension FormPath {
    /// Returns the error for a value that cannot be written as a string.
    fileprivate func error(_ value: Any, _ rule: String) -> EncodingError {
        .invalidValue(
            value, EncodingError.Context(codingPath: FormPath?.some(self).codingPath, debugDescription: rule))
    }
}
