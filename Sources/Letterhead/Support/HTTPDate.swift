// SPDX-License-Identifier: MIT
package import LetterheadFoundation

/// Dates in the three HTTP formats, as seconds since 1970 (RFC 9110, 5.6.7).
package enum HTTPDate {
    /// Parses a date. Returns nil if the string isn't a date. Day and month names and `GMT` may have any case (RFC
    /// 9111, 4.2).
    ///
    /// - Parameters:
    ///   - text: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///   - now: the current time. It determines the century for a two-digit year: the result is at most 50 years in the
    ///     future.
    package static func seconds(of text: String, now: Int64) -> Int64? {
        let parts = ASCII.keyword(text).split(at: " ").map(String.init)
        switch parts.count {
        case 6 where parts[0].ends(with: ",") && parts[5] == "gmt":
            return seconds(day: parts[1], month: parts[2], year: number(parts[3], digits: 4), time: parts[4])
        case 4 where parts[0].ends(with: ",") && parts[3] == "gmt":
            let date = parts[1].split(at: "-", omittingEmpty: false).map(String.init)
            guard date.count == 3, let short = number(date[2], digits: 2) else { return nil }
            return seconds(day: date[0], month: date[1], year: year(short, now: now), time: parts[2])
        case 5 where !text.utf8.contains(UInt8(ascii: ",")):
            let day = parts[2].utf8.count == 1 ? "0" + parts[2] : parts[2]
            return seconds(day: day, month: parts[1], year: number(parts[4], digits: 4), time: parts[3])
        default:
            return nil
        }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func seconds(day: String, month: String, year: Int?, time: String) -> Int64? {
        let clock = time.split(at: ":", omittingEmpty: false).map { number(String($0), digits: 2) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            let day = number(day, digits: 2), let year, let month = months.firstIndex(of: month),
            hour < 24, minute < 60, second <= 60, (1...length(of: month, year: year)).contains(day)
        else { return nil }
        // 64 bits, because an Int with 32 bits overflows in 2038.
        return Int64(days(year: year, month: month + 1, day: day)) * 86_400
            + Int64(hour * 3_600 + minute * 60 + second)
    }

    private static func number(_ text: String, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func year(_ short: Int, now: Int64) -> Int {
        let present = Int(clamping: 1970 + now / 31_556_952)
        let year = present / 100 * 100 + short
        return year > present + 50 ? year - 100 : year
    }

    /// Returns the number of days in a month. Months are numbered from 0.
    static func length(of month: Int, year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }

    /// Returns the number of days since January 1, 1970. Months are numbered from 1. The calculation begins each year
    /// in March, so that a year ends with the leap day.
    static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let leaps = (year >= 0 ? year / 4 : 0) - year / 100 + year / 400
        return year * 365 + leaps + dayOfYear - 719_468
    }
}

extension Date {
    /// The time in UTC as in RFC 3339, `2026-01-31T08:00:00Z`, or nil outside of the years 0 to 9999.
    package var internetTime: String? {
        (-62_167_219_200..<253_402_300_800).contains(timeIntervalSince1970) ? formatted(.iso8601) : nil
    }
}
