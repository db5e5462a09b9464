/// Words and commands for a POSIX shell (IEEE Std 1003.1, 2.2).
enum Shell {
    /// Returns a word that the shell reads as exactly this string. The string must not contain NUL.
    static func word(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy(isPlain)
        return isPlain ? text : "'" + text.replacingBytes(of: "'", with: #"'\''"#) + "'"
    }

    /// Returns a command that prints exactly these bytes.
    static func printing(_ bytes: some Sequence<UInt8>) -> String {
        var text = "printf %b '"
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\\"): text += #"\\"#
            case 0x20...0x7E where byte != UInt8(ascii: "'"): text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += #"\0"# + String(byte, radix: 8).padded(to: 3)
            }
        }
        return text + "'"
    }

    /// Returns whether a string can be a word: it contains no control characters except line breaks and tabs. A
    /// terminal could interpret other control characters when the command is pasted.
    static func isWord(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) || $0 == "\n" || $0 == "\t"
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            || "-_./:@%+=,".utf8.contains(byte)
    }
}

extension String {
    /// The string, padded with leading zeros.
    fileprivate func padded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - utf8.count)) + self
    }
}
