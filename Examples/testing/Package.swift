// swift-tools-version: 6.2
import PackageDescription

// An API client and its tests, as a separate package. Run them with `swift test --package-path Examples/testing`.
let package = Package(
    name: "Bookshop",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "Bookshop", targets: ["Bookshop"])],
    dependencies: [.package(name: "Letterhead", path: "../..")],
    targets: [
        .target(name: "Bookshop", dependencies: [.product(name: "Letterhead", package: "Letterhead")]),
        .testTarget(
            name: "BookshopTests",
            dependencies: [
                "Bookshop",
                .product(name: "Letterhead", package: "Letterhead"),
                .product(name: "LetterheadContracts", package: "Letterhead"),
                .product(name: "LetterheadRecording", package: "Letterhead"),
                .product(name: "LetterheadTesting", package: "Letterhead"),
                .product(name: "LetterheadTestingSupport", package: "Letterhead"),
            ],
            exclude: ["Cassettes", "Flights", "Snapshots", "bookshop.contract"]),
    ]
)
