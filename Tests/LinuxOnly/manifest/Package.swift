// swift-tools-version: 5.9
import PackageDescription

// Letterhead for Linux only, with a condition of the manifest. On other platforms, the manifest doesn't name the package,
// so nothing is resolved. Cross-compiling for Linux from there has no Letterhead.
#if os(Linux)
    let packages: [Package.Dependency] = [.package(name: "Letterhead", path: "../../..")]
    let sessions: [Target.Dependency] = [.product(name: "LetterheadURLSession", package: "Letterhead")]
#else
    let packages: [Package.Dependency] = []
    let sessions: [Target.Dependency] = []
#endif

let package = Package(
    name: "Forecasts",
    platforms: [.iOS(.v13), .macOS(.v10_15)],
    products: [.library(name: "Forecasts", targets: ["Forecasts"])],
    dependencies: packages,
    targets: [
        .target(name: "Forecasts", dependencies: sessions),
        .testTarget(name: "ForecastsTests", dependencies: ["Forecasts"]),
    ]
)
