// swift-tools-version: 6.2
import PackageDescription

// A program for Linux that does not carry all of Foundation: it turns off the trait of the same name. Both of its targets
// import FoundationEssentials. `swift run --package-path Examples/small get https://example.com` sends one request.
let package = Package(
    name: "Small",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Letterhead", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "get", dependencies: [.product(name: "Letterhead", package: "Letterhead")]),
        .executableTarget(
            name: "check",
            dependencies: [
                .product(name: "Letterhead", package: "Letterhead"),
                .product(name: "LetterheadTesting", package: "Letterhead"),
            ]),
    ]
)
