import Glibc
import Testing

/// The private world that `scripts/world` makes; these tests change users and PAM, so they run nowhere else.
enum World {
    /// Whether this process is in it.
    static let isHere = getenv("SIGNET_WORLD") != nil

    /// The folder of what `scripts/build` made, from the package's root.
    static let stage = packageRoot + "/.build-stage"

    /// The small C programs of the tests.
    static let tools = stage + "/tools"

    /// The machine's own folder behind the world's, to see that it does not change.
    static func machine(_ folder: String) -> String { "/run/signet-world/\(folder)/lower" }

    /// Whether the shipped module, command line and sensor helper are installed here.
    static let hasProduct =
        access("/usr/bin/signet", X_OK) == 0 && access("/usr/libexec/signet/signet-sensor", X_OK) == 0

    /// The package's root, found from this file's place.
    static let packageRoot = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()

    /// A new folder of root's alone, in memory, which ends with the world.
    static func scratchFolder() throws -> String {
        var template = Array("/run/signet-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw HarnessError("no folder could be made in /run (errno \(errno))")
        }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // Helpers that gave up root must reach what lies in it.
        chmod(path, 0o755)
        return path
    }
}

/// What went wrong in the harness itself, in words for the test's output.
struct HarnessError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test outside the private world.
    static var inWorld: Self { .enabled(if: World.isHere, "runs only in the private world: scripts/test e2e") }

    /// Skips the test where `scripts/build` has not built the product.
    static var withProduct: Self { .enabled(if: World.hasProduct, "the product is not installed in this world") }
}
