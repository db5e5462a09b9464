// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let librarySettings = settings + [.strictMemorySafety()]

// A resource would cost every Linux program a bundle that it has no use for.
#if os(Linux)
    let privacyManifest: (resources: [Resource], exclude: [String]) = ([], ["PrivacyInfo.xcprivacy"])
#else
    let privacyManifest: (resources: [Resource], exclude: [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#endif

// The system's libraries on Linux, by file names, because names without a version belong to development packages. A
// static program sets LETTERHEAD_LIBRARIES, such as ":libcurl.a :libz.a" (guide "Making a small program for Linux").
let archives = Context.environment["LETTERHEAD_LIBRARIES"]?.split(separator: " ").map(String.init)
let libcurl = archives ?? [":libcurl.so.4"]
let zlib = archives == nil ? [":libz.so.1"] : []
let linking: [CSetting] = archives == nil ? [] : [.define("LETTERHEAD_STATIC")]

/// Links libraries on Linux.
func linked(_ names: [String]) -> [LinkerSetting] { names.map { .linkedLibrary($0, .when(platforms: [.linux])) } }

/// A library over the public API of the core.
func library(_ name: String, _ more: Target.Dependency...) -> Target {
    .target(name: name, dependencies: ["Letterhead", "LetterheadFoundation"] + more, swiftSettings: librarySettings)
}

/// A target that only Linux has.
func linux(_ name: String) -> Target.Dependency { .target(name: name, condition: .when(platforms: [.linux])) }
// What not every program needs: products of their own, which use the public API of the library as its users do.
let additions = "Caching Contracts OAuth Observing Recording Relay Resilience Signing Streaming Transfers URLSession"
    .split(separator: " ").map { "Letterhead\($0)" }
let products: [Target.Dependency] = (["Letterhead"] + additions).map {
    .byName(name: $0, condition: $0 == "LetterheadURLSession" ? .when(traits: ["Foundation"]) : nil)
}

// What every target of tests may use.
let kit: [Target.Dependency] = ["LetterheadTesting", "TestLimits", "TestKit", linux("transport-stress")]

let package = Package(
    name: "Letterhead",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    // Only LetterheadTestingSupport, which has the trait of Swift Testing, needs the testing library when a program runs.
    products: (["Letterhead", "LetterheadTesting", "LetterheadTestingSupport"] + additions).map {
        .library(name: $0, targets: [$0])
    },
    traits: [
        .default(enabledTraits: ["Foundation"]),
        .trait(name: "Foundation", description: "URLRequest and URLSession on Linux, which link all of Foundation."),
    ],
    targets: [
        // Foundation and the C library, as far as the package uses them. Members of C types have no single module.
        .target(
            name: "LetterheadFoundation",
            swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety()]),
        // Our own declarations of the system's libcurl, which Foundation's networking links on Linux anyway.
        .target(name: "CLibcurl", cSettings: linking, linkerSettings: linked(libcurl)),
        // Our own declarations of the system's zlib, which every platform has.
        .target(
            name: "CLetterheadZlib", cSettings: linking,
            linkerSettings: linked(zlib) + [
                .linkedLibrary("z", .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]))
            ]),
        .target(
            name: "Letterhead", dependencies: ["LetterheadFoundation", "CLetterheadZlib", linux("CLibcurl")],
            exclude: privacyManifest.exclude, resources: privacyManifest.resources, swiftSettings: librarySettings),
        library("LetterheadTesting"),
        library("LetterheadTestingSupport", "LetterheadRecording", "LetterheadTesting"),
        .testTarget(
            name: "LetterheadTests",
            dependencies: kit + products + ["LetterheadTestingSupport", "CLetterheadZlib", linux("fuzz")],
            swiftSettings: settings),
        // Links and a transport as users write them: no file of this target imports the library with @testable.
        .testTarget(
            name: "LetterheadPublicTests", dependencies: ["Letterhead", "LetterheadTesting"], swiftSettings: settings),
        // What tests share, the limits of their process, and programs with what could crash or hang it.
        .target(name: "TestKit", dependencies: ["Letterhead"], path: "Tests/TestKit", swiftSettings: settings),
        .target(name: "TestLimits", path: "Tests/TestLimits"),
        .executableTarget(
            name: "transport-stress", dependencies: products + ["TestKit", linux("CLibcurl")],
            path: "Tests/TransportStress", swiftSettings: settings),
        .executableTarget(
            name: "joints", dependencies: products + ["LetterheadTesting", "TestKit"], path: "Tests/Joints",
            swiftSettings: settings),
        .executableTarget(name: "fuzz", dependencies: products, path: "Tests/Fuzz", swiftSettings: settings),

        // `swift run quickstart`; examples are built with plain settings, as the programs of users are.
        .executableTarget(
            name: "quickstart", dependencies: ["Letterhead", "LetterheadStreaming", "LetterheadTesting"],
            path: "Examples/quickstart"),
        .executableTarget(name: "fleet", dependencies: products + ["LetterheadTesting"], path: "Examples/fleet"),
        .executableTarget(name: "weather", dependencies: products + ["LetterheadTesting"], path: "Examples/weather"),
        .executableTarget(
            name: "main-actor", dependencies: ["Letterhead", "LetterheadTesting"], path: "Examples/main-actor",
            swiftSettings: [.defaultIsolation(MainActor.self)]),
    ]
        + additions.map {
            // A contract checks recordings, and takes routes as stubs do.
            $0 == "LetterheadContracts"
                ? library($0, "LetterheadRecording", "LetterheadStreaming", "LetterheadTesting") : library($0)
        }
        + additions.map { .testTarget(name: "\($0)Tests", dependencies: kit + products, swiftSettings: settings) },
    swiftLanguageModes: [.v6]
)
