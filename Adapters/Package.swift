// swift-tools-version: 6.2
import PackageDescription

// Letterhead with the packages of the Swift server ecosystem. README.md says how to depend on it.

// What is built: "light" leaves out the products that need SwiftNIO.
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
            dependencies: [.byName(name: "Letterhead\(name)")] + letterhead() + tests,
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

if choice != "light" {
    dependencies += [
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.86.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.26.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.36.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.16.0"),
    ]
    targets += adapter(
        "AsyncHTTPClient",
        letterhead() + [
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        ],
        tests: letterhead("Testing") + [
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
        ])
    targets += adapter(
        "Hummingbird",
        letterhead("Resilience", "Signing") + [
            "LetterheadHTTPTypes", "LetterheadServiceLifecycle",
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        ],
        tests: letterhead("Signing") + [
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "InMemoryLogging", package: "swift-log"),
        ])
    // A service with Hummingbird that calls another one with Letterhead, with plain settings as the programs of users.
    targets += [
        .executableTarget(
            name: "gateway",
            dependencies: letterhead("Resilience", "Signing") + [
                "LetterheadHummingbird", "LetterheadServiceLifecycle",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Examples/gateway"),
        .testTarget(
            name: "GatewayTests",
            dependencies: ["gateway", .product(name: "Logging", package: "swift-log")]
                + letterhead("Signing", "Testing")),
    ]
}

// swift-openapi-runtime, as the path of a checkout or as a URL. Without it, LetterheadOpenAPI is left out.
if let runtime = Context.environment["LETTERHEAD_OPENAPI"] {
    dependencies.append(runtime.contains("://") ? .package(url: runtime, from: "1.11.0") : .package(path: runtime))
    let packages: [Target.Dependency] = [
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
    ]
    targets += adapter(
        "OpenAPI", letterhead() + ["LetterheadHTTPTypes"] + packages, tests: letterhead("Testing") + packages)
}

let package = Package(
    name: "LetterheadAdapters",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: targets.filter { $0.type == .regular }.map { .library(name: $0.name, targets: [$0.name]) },
    dependencies: dependencies,
    targets: targets,
    swiftLanguageModes: [.v6]
)
