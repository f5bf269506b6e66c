// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "HackMatrix",
    // The engine keeps its boards in InlineArray, which Apple's systems carry since macOS 26.
    platforms: [.macOS(.v26)],
    products: [.executable(name: "HackMatrix", targets: ["HackMatrix"])],
    targets: [
        .target(name: "HackMatrixCore"),
        .executableTarget(name: "HackMatrix", dependencies: ["HackMatrixCore"]),
        .testTarget(
            name: "HackMatrixCoreTests",
            dependencies: ["HackMatrixCore"],
            resources: [.copy("Fixtures")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
