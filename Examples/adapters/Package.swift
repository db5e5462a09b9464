// swift-tools-version: 6.2
import PackageDescription

// Adapters that connect Letterhead with the logging, metrics and tracing packages of the Swift ecosystem. Copy the one
// that you need. Test them with `swift test --package-path Examples/adapters`.
let package = Package(
    name: "Adapters",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "LoggingAdapter", targets: ["LoggingAdapter"]),
        .library(name: "MetricsAdapter", targets: ["MetricsAdapter"]),
        .library(name: "TracingAdapter", targets: ["TracingAdapter"]),
    ],
    dependencies: [
        .package(name: "Letterhead", path: "../.."),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
    ],
    targets: [
        .target(
            name: "LoggingAdapter",
            dependencies: [
                .product(name: "Letterhead", package: "Letterhead"), .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "MetricsAdapter",
            dependencies: [
                .product(name: "Letterhead", package: "Letterhead"),
                .product(name: "LetterheadObserving", package: "Letterhead"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]),
        .target(
            name: "TracingAdapter",
            dependencies: [
                .product(name: "Letterhead", package: "Letterhead"),
                .product(name: "LetterheadObserving", package: "Letterhead"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "LoggingAdapterTests",
            dependencies: ["LoggingAdapter", .product(name: "InMemoryLogging", package: "swift-log")]),
        .testTarget(
            name: "MetricsAdapterTests",
            dependencies: ["MetricsAdapter", .product(name: "MetricsTestKit", package: "swift-metrics")]),
        .testTarget(
            name: "TracingAdapterTests",
            dependencies: [
                "TracingAdapter", .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ]),
    ]
)
