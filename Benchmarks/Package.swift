// swift-tools-version: 6.2
import PackageDescription

// With LETTERHEAD_PEERS=1, the small requests are also sent by AsyncHTTPClient, which is then resolved and built.
let isBesidePeers = Context.environment["LETTERHEAD_PEERS"] == "1"
let peers: [Package.Dependency] =
    isBesidePeers ? [.package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0")] : []
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let letterhead: [Target.Dependency] = [
    .product(name: "Letterhead", package: "Letterhead"), .product(name: "LetterheadTesting", package: "Letterhead"),
    .product(name: "LetterheadResilience", package: "Letterhead"),
    .product(name: "LetterheadCaching", package: "Letterhead"),
    .product(name: "LetterheadRecording", package: "Letterhead"),
    .product(name: "LetterheadSigning", package: "Letterhead"),
    .product(name: "LetterheadStreaming", package: "Letterhead"),
    .product(name: "LetterheadURLSession", package: "Letterhead"),
]

// What measures the library through its public API. TestKit and TestLimits are links to the folders of the tests.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Letterhead", path: "..")] + peers,
    targets: [
        // `swift run --package-path Benchmarks -c release benchmarks`
        .executableTarget(
            name: "benchmarks",
            dependencies: letterhead + [
                "CountAllocations", "TestKit", "TestLimits",
                .target(name: "RawCurl", condition: .when(platforms: [.linux])),
            ] + (isBesidePeers ? [.product(name: "AsyncHTTPClient", package: "async-http-client")] : []),
            path: "Sources/Benchmarks", swiftSettings: settings + (isBesidePeers ? [.define("PEERS")] : [])),
        // `.ci/run allocations`
        .executableTarget(
            name: "allocations", dependencies: letterhead + ["CountAllocations"], path: "Sources/Allocations",
            swiftSettings: settings),
        // Measures the response cache with the public suite http-tests/cache-tests (see CONTRIBUTING.md).
        .executableTarget(
            name: "cache-suite", dependencies: letterhead, path: "Sources/CacheSuite", swiftSettings: settings),
        // What the transport is measured against: a loop in C over the system's libcurl.
        .target(name: "RawCurl", linkerSettings: [.linkedLibrary(":libcurl.so.4", .when(platforms: [.linux]))]),
        .target(name: "CountAllocations"),
        .target(name: "TestKit", dependencies: letterhead, swiftSettings: settings),
        .target(name: "TestLimits"),
    ],
    swiftLanguageModes: [.v6]
)
