package import Foundation

extension Date {
    /// The time in UTC as RFC 3339 writes it, `2026-01-31T08:00:00Z`; nil outside of the years 0 to 9999, which it cannot.
    package var internetTime: String? {
        (-62_167_219_200..<253_402_300_800).contains(timeIntervalSince1970) ? formatted(.iso8601) : nil
    }
}
