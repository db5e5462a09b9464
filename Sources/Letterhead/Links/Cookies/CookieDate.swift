// SPDX-License-Identifier: MIT
/// Parses cookie dates, which servers write in many formats (RFC 6265bis, 5.1.1).
enum CookieDate {
    /// Returns seconds since 1970, or nil if a time, a day, a month or a year is missing or invalid.
    static func seconds(of text: String) -> Int64? {
        var time: (hour: Int, minute: Int, second: Int)?
        var (day, month, year): (Int?, Int?, Int?) = (nil, nil, nil)
        for token in text.utf8.split(whereSeparator: isDelimiter).prefix(64) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = digits(token, 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(token) {
                month = found
            } else if year == nil, let found = digits(token, 2...4) {
                year = found
            }
        }
        guard let time = time.flatMap(secondsOfDay), let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        guard year >= 1601, (1...HTTPDate.length(of: month - 1, year: year)).contains(day) else { return nil }
        return Int64(HTTPDate.days(year: year, month: month, day: day)) * 86_400 + Int64(time)
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte == 0x09 || (0x20...0x2F).contains(byte) || (0x3B...0x40).contains(byte) || (0x5B...0x60).contains(byte)
            || (0x7B...0x7E).contains(byte)
    }

    /// Reads `hh:mm:ss` with fields of one or two digits, followed by anything that isn't a digit. The numbers can be
    /// out of range: the first token of this form is the time, and no later token replaces it.
    private static func clock(_ token: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].allSatisfy(isDigit), fields[1].allSatisfy(isDigit),
            let hour = digits(fields[0], 1...2), let minute = digits(fields[1], 1...2),
            let second = digits(fields[2], 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func secondsOfDay(_ time: (hour: Int, minute: Int, second: Int)) -> Int? {
        guard time.hour < 24, time.minute < 60, time.second < 60 else { return nil }
        return time.hour * 3600 + time.minute * 60 + time.second
    }

    /// Reads a number, followed by anything that isn't a digit.
    private static func digits(_ token: Substring.UTF8View, _ count: ClosedRange<Int>) -> Int? {
        let digits = token.prefix(while: isDigit)
        guard count.contains(digits.count) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Reads the number of a month from its first three letters, in any case.
    private static func monthNumber(_ token: Substring.UTF8View) -> Int? {
        guard token.count >= 3 else { return nil }
        let start = String(decoding: token.prefix(3).map { ASCII.lowercased($0) }, as: UTF8.self)
        return months.firstIndex(of: start).map { $0 + 1 }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
