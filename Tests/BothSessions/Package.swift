// swift-tools-version: 6.2
import PackageDescription

// One program over two sessions: Foundation's, and that of Letterhead by a `typealias`. `foundation` and `letterhead` are
// links to the same file. `sessions` runs both against a hostile server, each case in a process of its own.
let letterhead: [Target.Dependency] = [
    .product(name: "Letterhead", package: "Letterhead"), .product(name: "LetterheadTesting", package: "Letterhead"),
]

let package = Package(
    name: "BothSessions",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Letterhead", path: "../..")],
    targets: [
        .executableTarget(name: "sessions", dependencies: letterhead),
        .executableTarget(name: "foundation-session", path: "Sources/foundation"),
        .executableTarget(
            name: "letterhead-session",
            dependencies: [.product(name: "LetterheadURLSession", package: "Letterhead")], path: "Sources/letterhead",
            swiftSettings: [.define("LETTERHEAD")]),
    ]
)
