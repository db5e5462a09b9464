import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// Property lists, whose structure a server chooses.
struct PropertyListTests {
    private func decoder() throws -> any HTTPBodyDecoder { try PropertyListDecoder().decoder(for: nil) }

    private func xml(_ content: String) -> Data {
        Data("<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\">\(content)</plist>".utf8)
    }

    /// A binary property list of at most 255 objects, each of them bytes in which references have one byte.
    private func binary(_ objects: [[UInt8]]) -> Data {
        var bytes = Array("bplist00".utf8)
        var table: [UInt8] = []
        for object in objects {
            table += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
            bytes += object
        }
        let start = bytes.count
        bytes += table + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [objects.count, 0, start] {
            withUnsafeBytes(of: UInt64(number).bigEndian) { bytes += Array($0) }
        }
        return Data(bytes)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `A property list is decoded`(format: PropertyListSerialization.PropertyListFormat) throws {
        let value: [String: [String: [Int]]] = ["a": ["b": Array(0..<300)], "c": [:]]
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        let data = try encoder.encode(value)
        #expect(try decoder().decode([String: [String: [Int]]].self, from: data) == value)
        let many = try MediaTypeDecoder([(.json, JSONDecoder()), ("application/x-plist", PropertyListDecoder())])
            .decoder(for: "application/x-plist")
        #expect(try many.decode([String: [String: [Int]]].self, from: data) == value)
    }

    @Test func `Comments, sections and empty collections do not count as levels`() throws {
        let hidden = "<!-- </array><array> --><array/><string><![CDATA[</array>]]></string>"
        let list = xml("<array>" + String(repeating: hidden, count: 100) + "</array>")
        #expect(try decoder().decode([JSONValue].self, from: list).count == 200)
    }

    @Test(arguments: ["array", "dict"])
    func `A property list that is nested too deep is an error`(tag: String) throws {
        let open = tag == "dict" ? "<dict><key>a</key>" : "<array>"
        let deep = xml(String(repeating: open, count: 100_000) + String(repeating: "</\(tag)>", count: 100_000))
        #expect(throws: DecodingError.self) { try decoder().decode(JSONValue.self, from: deep) }
        let hidden = xml(
            String(repeating: "<array><!-- </array> --><![CDATA[</array>]]><?x </array>?>", count: 100_000))
        #expect(throws: DecodingError.self) { try decoder().decode(JSONValue.self, from: hidden) }
    }

    @Test func `A collection that is referred to several times, or contains itself, is an error`() throws {
        var objects: [[UInt8]] = (1...200).map { [0xA2, $0, $0] }
        objects.append([0x10, 1])
        let shared = binary(objects)
        #expect(throws: DecodingError.self) { try decoder().decode(JSONValue.self, from: shared) }
        #expect(throws: DecodingError.self) { try decoder().decode(JSONValue.self, from: binary([[0xA1, 0]])) }
        let loop = binary([[0xD1, 1, 2], [0x51, 0x61], [0xA1, 0]])
        #expect(throws: DecodingError.self) { try decoder().decode(JSONValue.self, from: loop) }
    }

    @Test(arguments: [0x4F, 0x5F, 0x6F] as [UInt8])
    func `A long text or data that is referred to many times is an error, a short one is not`(kind: UInt8) throws {
        func list(ofSize size: Int) -> Data {
            let count = kind == 0x6F ? size / 2 : size
            return binary([
                [0xAF, 0x10, 250] + [UInt8](repeating: 1, count: 250),
                [kind, 0x11, UInt8(count >> 8), UInt8(count & 0xFF)]
                    + (0..<size).map { $0 % 2 == 0 && kind == 0x6F ? 0 : 0x61 },
            ])
        }
        if kind == 0x4F {
            #expect(try decoder().decode([Data].self, from: list(ofSize: 1000)).count == 250)
            #expect(throws: DecodingError.self) { try decoder().decode([Data].self, from: list(ofSize: 40_000)) }
        } else {
            #expect(try decoder().decode([String].self, from: list(ofSize: 1000)).count == 250)
            #expect(throws: DecodingError.self) { try decoder().decode([String].self, from: list(ofSize: 40_000)) }
        }
    }

    @Test func `Text in another encoding, which could hide tags, is an error`() throws {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist version=\"1.0\"><array></array></plist>"
        let wide = try #require(text.data(using: .utf16))
        #expect(throws: DecodingError.self) { try decoder().decode([Int].self, from: wide) }
        #expect(throws: DecodingError.self) { try decoder().decode([Int].self, from: Data(text.utf8)) }
    }

    @Test(arguments: ["<array>", "<array/>", "<array", "<!--", "<![CDATA[", "<?", "<dict></dict>", "-", "]"])
    func `The time for a check grows with the size`(piece: String) throws {
        let decoder = try decoder()
        let ratio = growth(of: 40_000) { size in
            let text = String(repeating: piece, count: size / piece.utf8.count) + "/>"
            _ = try? decoder.decode(Int.self, from: Data(("<plist>" + text).utf8))
        }
        #expect(ratio < 8)
    }
}
