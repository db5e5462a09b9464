// swift-tools-version: 6.2
import PackageDescription

// Letterhead with the packages of the Swift server ecosystem. README.md says how to depend on it.

// What is built: "light" leaves out the products that need SwiftNIO, "all" adds LetterheadOpenAPI.
let choice = Context.environment["LETTERHEAD_ADAPTERS"] ?? ""

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let librarySettings = settings + [.strictMemorySafety()]

/// Letterhead and its products with these suffixes.
func letterhead(_ additions: String...) -> [Target.Dependency] {
    ([""] + additions).map { .product(name: "Letterhead\($0)", package: "Letterhead") }
}

/// A target and its tests, for a product.
func adapter(_ name: String, _ dependencies: [Target.Dependency], tests: [Target.Dependency]) -> [Target] {
    [
        .target(name: "Letterhead\(name)", dependencies: dependencies, swiftSettings: librarySettings),
        .testTarget(
            name: "Letterhead\(name)Tests",
            dependencies: [.byName(name: "Letterhead\(name)")] + letterhead("Testing") + tests,
            swiftSettings: settings),
    ]
}

var dependencies: [Package.Dependency] = [
    .package(name: "Letterhead", path: ".."),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
]
var targets =
    adapter(
        "Logging", letterhead() + [.product(name: "Logging", package: "swift-log")],
        tests: [.product(name: "InMemoryLogging", package: "swift-log")])
    + adapter(
        "Metrics", letterhead("Observing") + [.product(name: "Metrics", package: "swift-metrics")],
        tests: [.product(name: "MetricsTestKit", package: "swift-metrics")])
    + adapter(
        "Tracing", letterhead("Observing") + [.product(name: "Tracing", package: "swift-distributed-tracing")],
        tests: [.product(name: "InMemoryTracing", package: "swift-distributed-tracing")])
    + adapter(
        "HTTPTypes", letterhead() + [.product(name: "HTTPTypes", package: "swift-http-types")],
        tests: [.product(name: "HTTPTypes", package: "swift-http-types")])
    + adapter(
        "ServiceLifecycle",
        letterhead() + [.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")],
        tests: [
            .product(name: "Logging", package: "swift-log"),
            .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
        ])

let package = Package(
    name: "LetterheadAdapters",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: targets.filter { $0.type == .regular }.map { .library(name: $0.name, targets: [$0.name]) },
    dependencies: dependencies,
    targets: targets,
    swiftLanguageModes: [.v6]
)
