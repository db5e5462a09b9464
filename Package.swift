// swift-tools-version: 6.2
import PackageDescription

// .ci/run sets the variable; those who build with a newer compiler than ours see its new warnings as warnings.
let areWarningsErrors = Context.environment["LETTERHEAD_STRICT"] != nil

let exampleSettings: [SwiftSetting] = areWarningsErrors ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    exampleSettings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]

// .ci/run sets the variable for the thread sanitizer, whose build takes long. No test in these folders creates a task.
let excludedTests =
    Context.environment["LETTERHEAD_SANITIZED"] == nil
    ? [] : ["Building", "Decoding", "Decorators", "Environment", "Templates"]

let cSettings: [CSetting] = areWarningsErrors ? [.treatAllWarnings(as: .error)] : []

// A resource would cost every Linux program a bundle that it has no use for.
#if os(Linux)
    let privacyManifest: (resources: [Resource], exclude: [String]) = ([], ["PrivacyInfo.xcprivacy"])
#else
    let privacyManifest: (resources: [Resource], exclude: [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#endif

let package = Package(
    name: "Letterhead",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Letterhead", targets: ["Letterhead"]),
        .library(name: "LetterheadTesting", targets: ["LetterheadTesting"]),
        .library(name: "LetterheadTestingSupport", targets: ["LetterheadTestingSupport"]),
    ],
    targets: [
        // Our own declarations of the system's libcurl, which Foundation's networking links on Linux anyway.
        .target(
            name: "CLibcurl",
            cSettings: cSettings,
            linkerSettings: [.linkedLibrary(":libcurl.so.4", .when(platforms: [.linux]))]),
        // Our own declarations of the system's zlib, which every platform has.
        .target(
            name: "CLetterheadZlib",
            cSettings: cSettings,
            linkerSettings: [
                .linkedLibrary(":libz.so.1", .when(platforms: [.linux])),
                .linkedLibrary("z", .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS])),
            ]),
        .target(
            name: "Letterhead",
            dependencies: ["CLetterheadZlib", .target(name: "CLibcurl", condition: .when(platforms: [.linux]))],
            exclude: privacyManifest.exclude, resources: privacyManifest.resources,
            swiftSettings: settings),
        .target(name: "LetterheadTesting", dependencies: ["Letterhead"], swiftSettings: settings),
        // The trait of Swift Testing. A separate product, because programs that are not tests use LetterheadTesting, too,
        // and must not need the testing library when they run.
        .target(
            name: "LetterheadTestingSupport", dependencies: ["LetterheadTesting", "Letterhead"],
            swiftSettings: settings),
        .testTarget(
            name: "LetterheadTests",
            dependencies: [
                "Letterhead", "LetterheadTesting", "LetterheadTestingSupport", "CLetterheadZlib", "TestLimits",
                "RawServer",
                // Only the tests on Linux start these.
                .target(name: "transport-stress", condition: .when(platforms: [.linux])),
                .target(name: "fuzz", condition: .when(platforms: [.linux])),
            ],
            exclude: excludedTests,
            swiftSettings: settings),
        // Links and a transport as users write them: no file of this target imports the library with @testable.
        .testTarget(
            name: "LetterheadPublicTests", dependencies: ["Letterhead", "LetterheadTesting"], swiftSettings: settings),
        // A server of raw bytes, for the transport's tests; and what could hang or crash them, in a process of its own.
        .target(name: "RawServer", path: "Tests/RawServer", swiftSettings: settings),
        .executableTarget(
            name: "transport-stress",
            dependencies: [
                "Letterhead", "RawServer", .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
            ],
            path: "Tests/TransportStress", swiftSettings: settings),
        .executableTarget(name: "fuzz", dependencies: ["Letterhead"], path: "Tests/Fuzz", swiftSettings: settings),
        // Measures the response cache by the public suite http-tests/cache-tests; see CONTRIBUTING.md.
        .executableTarget(
            name: "cache-suite", dependencies: ["Letterhead", "LetterheadTesting"], path: "Tests/CacheSuite",
            swiftSettings: settings),
        // `swift run quickstart`; examples are built with plain settings, as the programs of users are.
        .executableTarget(
            name: "quickstart", dependencies: ["Letterhead", "LetterheadTesting"], path: "Examples/quickstart",
            swiftSettings: exampleSettings),
        .executableTarget(
            name: "main-actor", dependencies: ["Letterhead", "LetterheadTesting"], path: "Examples/main-actor",
            swiftSettings: exampleSettings + [.defaultIsolation(MainActor.self)]),
        // `swift run -c release benchmarks`
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "Letterhead", "LetterheadTesting", "CountAllocations", "TestLimits", "RawServer",
                .target(name: "RawCurl", condition: .when(platforms: [.linux])),
            ],
            path: "Tests/Benchmarks", swiftSettings: settings),
        // What the transport is measured against.
        .target(name: "RawCurl", dependencies: ["CLibcurl"], path: "Tests/RawCurl", cSettings: cSettings),
        // The limits of a process of tests: how many files it opens, and how many tests run at the same time.
        .target(name: "TestLimits", path: "Tests/TestLimits", cSettings: cSettings),
        .target(name: "CountAllocations", path: "Tests/CountAllocations", cSettings: cSettings),
    ],
    swiftLanguageModes: [.v6]
)
