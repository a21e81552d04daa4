// swift-tools-version:6.2
import PackageDescription

/// The module that programs load is Embedded Swift: small, without a runtime of its own and without hidden threads. So are
/// the helpers, which are started for every touch and every PIN.
///
/// Only `pam_signet` and the helpers are built so, in a scratch path of their own; tests and command line are
/// ordinary Swift, and so are the helpers that the tests start.
///
/// Swift 6.3.1 moves constant arrays out of functions into weak symbols that it numbers anew in each Embedded module
/// (`…Tv0_r`). Where two modules count differently, the linker keeps one set, and the other module's code finds the wrong
/// arrays: a user without a PIN read that it was disabled. So the pass that does it is off; `scripts/build` looks after it.
let embedded: [SwiftSetting] = [
    .unsafeFlags(["-Xllvm", "-sil-disable-pass=object-outliner"], .when(traits: ["Embedded"])),
    // A section for each function, so that the linker can leave out what nobody calls: a third of the size.
    .unsafeFlags(["-Xfrontend", "-function-sections"], .when(traits: ["Embedded"])),
]

let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]
let core = strict + embedded + [.enableExperimentalFeature("Embedded", .when(traits: ["Embedded"]))]

let strictC: [CSetting] = [
    .treatAllWarnings(as: .error),
    .unsafeFlags(["-Wall", "-Wextra", "-fvisibility=hidden"]),
]

// nodelete: Swift metadata must outlive `dlclose`. `defs`: an unresolved symbol must fail here and not at somebody's login.
// The version script and defs are for release only, since the sanitizers' link of a debug build cannot have them.
let moduleLink: [LinkerSetting] = [
    .linkedLibrary("pam"),
    .unsafeFlags([
        "-Xlinker", "-z", "-Xlinker", "nodelete", "-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker",
        "now",
    ]),
    .unsafeFlags(
        [
            "-Xlinker", "-z", "-Xlinker", "defs", "-Xlinker",
            "--version-script=\(Context.packageDirectory)/pam/pam_signet.map",
        ],
        .when(configuration: .release)),
    .unsafeFlags(["-Xlinker", "--gc-sections"], .when(configuration: .release, traits: ["Embedded"])),
]

/// A program that is Embedded or not. SwiftPM 6.3 looks for the feature without looking at its condition and links an
/// ordinary program as Embedded too, which then does not find the toolchain's library: so the feature is a flag here.
let embeddedMode = ["-enable-experimental-feature", "Embedded"]
/// A helper's own code waits for readers and chips: size before speed, for each touch brings it in anew.
let helperSettings =
    strict + embedded + [
        .unsafeFlags(embeddedMode, .when(traits: ["Embedded"])),
        .unsafeFlags(["-Osize"], .when(configuration: .release, traits: ["Embedded"])),
    ]

/// What nobody calls is left out, Unicode's tables among it; a root process's tables of addresses are not writable.
let helperLink: [LinkerSetting] = [
    .unsafeFlags(
        ["-Xlinker", "--gc-sections", "-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"],
        .when(configuration: .release, traits: ["Embedded"])),
    .unsafeFlags(embeddedMode, .when(traits: ["Embedded"])),
]

/// The fuzzer's program needs libFuzzer and sanitizers at its link, which only `scripts/fuzz` gives.
let fuzzing: [Target] =
    Context.environment["SIGNET_FUZZ"] == nil
    ? []
    : [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "signet-fuzz", dependencies: ["FuzzTargets", "CFuzzer"], path: "Tests/Fuzz/Program"),
    ]

let package = Package(
    name: "signet",
    products: [
        .library(name: "pam_signet", type: .dynamic, targets: ["PAMEntry", "SignetModule"]),
        .executable(name: "signet", targets: ["signet"]),
        .executable(name: "signet-sensor", targets: ["signet-sensor"]),
        .executable(name: "signet-enclave", targets: ["signet-enclave"]),
    ],
    traits: [
        .trait(name: "Embedded", description: "Builds the core as Embedded Swift, for pam_signet and the helpers only")
    ],
    targets: [
        // C that Swift cannot say, and module maps
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .target(name: "CPlatform", cSettings: strictC),
        .systemLibrary(name: "PAMShim", path: "pam/include"),

        // Pure: no clock, path or pointer
        .target(name: "SignetPolicy", swiftSettings: core),
        // Lifetimes: the reader of records holds a span of bytes that it does not own, and must not outlive them.
        .target(
            name: "SignetRecords", dependencies: ["SignetPolicy"],
            swiftSettings: core + [.enableExperimentalFeature("Lifetimes")]),

        // The one owning type for secrets
        .target(name: "SignetSecrets", dependencies: ["CPlatform", "CSodium"], swiftSettings: core),

        // The stories, told against ports
        .target(
            name: "SignetEngine", dependencies: ["SignetPolicy", "SignetRecords", "SignetSecrets"], swiftSettings: core),

        // Adapters to the machine
        .target(
            name: "SignetPlatform",
            dependencies: ["SignetEngine", "SignetRecords", "SignetPolicy", "SignetSecrets", "CSodium", "CPlatform"],
            swiftSettings: core),

        // What programs load
        .target(
            name: "SignetModule",
            dependencies: [
                "SignetPlatform", "SignetEngine", "SignetRecords", "SignetPolicy", "SignetSecrets", "PAMShim",
                "CPlatform",
            ],
            swiftSettings: core),
        .target(
            name: "PAMEntry", dependencies: ["SignetModule", "PAMShim"], path: "pam", exclude: ["include", "man"],
            publicHeadersPath: ".", cSettings: strictC, linkerSettings: moduleLink),

        // Programs
        .systemLibrary(name: "CPAMMisc", providers: [.apt(["libpam0g-dev"])]),
        .executableTarget(
            name: "signet",
            dependencies: [
                "CPAMMisc",
                "SignetPlatform", "SignetEngine", "SignetRecords", "SignetPolicy", "SignetSecrets", "CPlatform",
            ],
            swiftSettings: strict),
        .systemLibrary(
            name: "CFprint", pkgConfig: "libfprint-2", providers: [.apt(["libfprint-2-dev", "libglib2.0-dev"])]),
        .target(name: "SignetHelper", dependencies: ["CPlatform"], swiftSettings: core),
        // How the reader helper gives up what it does not need; no part of what programs load.
        .target(
            name: "CConfinement", dependencies: ["CPlatform"], cSettings: strictC,
            linkerSettings: [.linkedLibrary("seccomp")]),
        .executableTarget(
            name: "signet-sensor",
            dependencies: ["CFprint", "CConfinement", "CPlatform", "SignetHelper", "SignetRecords", "SignetPolicy"],
            swiftSettings: helperSettings, linkerSettings: helperLink),
        .systemLibrary(
            name: "CTSS2", pkgConfig: "tss2-esys tss2-sys tss2-mu tss2-tcti-device tss2-tcti-swtpm",
            providers: [.apt(["libtss2-dev"])]),
        .executableTarget(
            name: "signet-enclave",
            dependencies: ["CTSS2", "CPlatform", "SignetHelper", "SignetRecords", "SignetPolicy", "SignetSecrets"],
            swiftSettings: helperSettings, linkerSettings: helperLink),

        // Tests
        .testTarget(name: "SignetPolicyTests", dependencies: ["SignetPolicy"]),
        .testTarget(name: "SignetRecordsTests", dependencies: ["SignetRecords", "SignetPolicy", "FuzzTargets", "Proof"]),
        .testTarget(name: "SignetSecretsTests", dependencies: ["SignetSecrets"]),
        .testTarget(
            name: "SignetEngineTests",
            dependencies: ["SignetEngine", "SignetRecords", "SignetPolicy", "SignetSecrets", "Proof"]),
        .testTarget(
            name: "SignetPlatformTests",
            dependencies: [
                "SignetPlatform", "SignetEngine", "SignetRecords", "SignetPolicy", "SignetSecrets", "CPlatform",
                "CTerminal", "SoftwareTPM", "enclave-stand-in", "signet-enclave", "Proof",
            ]),
        .testTarget(
            name: "SignetModuleTests",
            dependencies: ["SignetModule", "SignetEngine", "SignetPolicy", "PAMShim", "CPlatform", "CTerminal"]),
        .testTarget(
            name: "SignetSensorTests",
            dependencies: [
                "SignetPlatform", "SignetEngine", "SignetRecords", "SignetPolicy", "SignetSecrets", "CPlatform",
                "confinement-probe",
            ]),
        .target(name: "SoftwareTPM", path: "Tests/SoftwareTPM"),
        // The short and the long form of a proof, and where its figures go.
        .target(name: "Proof", path: "Tests/Proof"),
        .testTarget(
            name: "SignetEnclaveTests",
            dependencies: ["SoftwareTPM", "SignetRecords", "SignetPolicy", "CPlatform"]),
        .executableTarget(
            name: "confinement-probe", dependencies: ["CConfinement"], path: "Tests/ConfinementProbe",
            cSettings: strictC),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "signet", "SignetPlatform", "SignetEngine", "SignetRecords", "SignetPolicy", "SignetSecrets",
                "CPlatform",
                "CTerminal",
            ]),
        .executableTarget(
            name: "enclave-stand-in", dependencies: ["SignetRecords", "SignetPolicy"], path: "Tests/EnclaveStandIn"),
        // Many users' records in short time, for `scripts/bench`.
        .executableTarget(
            name: "bench-users",
            dependencies: ["SignetPlatform", "SignetEngine", "SignetRecords", "SignetPolicy", "SignetSecrets"],
            path: "Tests/Bench/Users"),
        .target(name: "CTerminal", path: "Tests/CTerminal", cSettings: strictC),
        // Each decoder with its property, for the fuzzer and for the replay of its corpus.
        .target(
            name: "FuzzTargets", dependencies: ["SignetPlatform", "SignetRecords", "SignetPolicy"],
            path: "Tests/Fuzz/Targets"),
        // The product's own parts only to know which keys must not be found in a program's memory.
        .testTarget(
            name: "EndToEnd",
            dependencies: [
                "CTerminal", "CSodium", "SignetPlatform", "SignetEngine", "SignetRecords", "SignetPolicy",
                "SignetSecrets", "Proof", "bench-users",
            ]),
    ] + fuzzing,
    swiftLanguageModes: [.v6]
)
