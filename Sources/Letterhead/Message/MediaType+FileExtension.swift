extension MediaType {
    /// The media type of a file's name by its extension, `.octetStream` for one that is not known.
    ///
    /// The table is the library's own, so that every platform answers alike; text types are named without a charset,
    /// since nobody looked into the file.
    public init(filename: String) { self.init(stringLiteral: Self.name(ofFile: filename)) }

    /// The media type of a file's name as it is written, without making a value of it.
    static func name(ofFile filename: String) -> String {
        let bytes = filename.utf8
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot != bytes.startIndex,
            bytes[bytes.index(before: dot)] != UInt8(ascii: "/")
        else { return octetStreamName }
        return byExtension[ASCII.lowercased(String(filename[bytes.index(after: dot)...]))] ?? octetStreamName
    }

    private static let octetStreamName = "application/octet-stream"

    /// As the IANA's registry names them.
    private static let byExtension: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif",
        "bin": "application/octet-stream", "bmp": "image/bmp", "bz2": "application/x-bzip2", "css": "text/css",
        "csv": "text/csv", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "eml": "message/rfc822", "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif",
        "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif", "htm": "text/html", "html": "text/html",
        "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript", "json": "application/json", "jsonld": "application/ld+json", "jxl": "image/jxl",
        "log": "text/plain", "m4a": "audio/mp4", "m4v": "video/mp4", "md": "text/markdown", "mid": "audio/midi",
        "midi": "audio/midi", "mjs": "text/javascript", "mkv": "video/matroska", "mov": "video/quicktime",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf",
        "pdf": "application/pdf", "plist": "application/x-plist", "png": "image/png",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
        "tiff": "image/tiff", "ttf": "font/ttf", "txt": "text/plain", "vcf": "text/vcard", "wasm": "application/wasm",
        "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff",
        "woff2": "font/woff2", "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]
}
