// swift-tools-version: 5.9
import PackageDescription

// Letterhead for Linux only, with a condition of the target. On other platforms, SwiftPM resolves the package, and builds
// nothing of it. Cross-compiling for Linux works.
let package = Package(
    name: "Forecasts",
    platforms: [.iOS(.v13), .macOS(.v10_15)],
    products: [.library(name: "Forecasts", targets: ["Forecasts"])],
    dependencies: [.package(name: "Letterhead", path: "../../..")],
    targets: [
        .target(
            name: "Forecasts",
            dependencies: [
                .product(
                    name: "LetterheadURLSession", package: "Letterhead", condition: .when(platforms: [.linux]))
            ]),
        .testTarget(name: "ForecastsTests", dependencies: ["Forecasts"]),
    ]
)
