// swift-tools-version: 6.2
import PackageDescription

// A program for Tests/Scripts/http3.sh, which links another libcurl. Without the trait, Foundation's networking does
// not load the system's.
let package = Package(
    name: "HTTP3",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Letterhead", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "http3", dependencies: [.product(name: "Letterhead", package: "Letterhead")],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")])
    ]
)
