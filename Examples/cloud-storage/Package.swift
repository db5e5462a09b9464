// swift-tools-version: 6.2
import PackageDescription

// The HTTP layer of an SDK for cloud storage, and its tests. Run them with
// `swift test --package-path Examples/cloud-storage`.
//
// With LETTERHEAD_HANDWRITTEN=1 in the environment, the package also has the same layer over AsyncHTTPClient alone, which
// README.md compares with this one, and the tests run over both.
let compares = Context.environment["LETTERHEAD_HANDWRITTEN"] != nil

let package = Package(
    name: "CloudStorage",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "CloudStorage", targets: ["CloudStorage"])],
    dependencies: [.package(name: "Letterhead", path: "../..")],
    targets: [
        .target(
            name: "CloudStorage",
            dependencies: [
                .product(name: "Letterhead", package: "Letterhead"),
                .product(name: "LetterheadStreaming", package: "Letterhead"),
                .product(name: "LetterheadTransfers", package: "Letterhead"),
            ]),
        .testTarget(
            name: "CloudStorageTests",
            dependencies: [
                "CloudStorage",
                .product(name: "Letterhead", package: "Letterhead"),
                .product(name: "LetterheadTesting", package: "Letterhead"),
            ]),
    ]
)

if compares {
    package.dependencies += [
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
    ]
    package.targets.append(
        .target(
            name: "HandwrittenCloudStorage",
            dependencies: [
                "CloudStorage", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]))
    for target in package.targets where target.isTest {
        target.dependencies.append("HandwrittenCloudStorage")
        target.swiftSettings = [.define("HANDWRITTEN")]
    }
}
