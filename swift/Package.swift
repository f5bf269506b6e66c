// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "HackMatrix",
    platforms: [.macOS(.v14)],
    products: [.executable(name: "HackMatrix", targets: ["HackMatrix"])],
    targets: [
        .target(name: "HackMatrixCore"),
        .target(name: "HackMatrixProtocol", dependencies: ["HackMatrixCore"]),
        .executableTarget(name: "HackMatrix", dependencies: ["HackMatrixCore", "HackMatrixProtocol"]),
        .target(name: "TestBoards", dependencies: ["HackMatrixCore"], path: "Tests/TestBoards"),
        .testTarget(name: "HackMatrixCoreTests", dependencies: ["HackMatrixCore", "TestBoards"]),
        .testTarget(
            name: "HackMatrixProtocolTests",
            dependencies: ["HackMatrixCore", "HackMatrixProtocol", "TestBoards"],
            resources: [.copy("Fixtures")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
