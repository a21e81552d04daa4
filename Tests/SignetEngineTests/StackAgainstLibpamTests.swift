import Foundation
import Testing

@testable import SignetEngine
@testable import SignetRecords

/// The walk against the machine's own libpam: random stacks of pam_debug.so, which answers what its argument says.
@Suite struct StackAgainstLibpamTests {
    private static let preload = "libpam_wrapper.so"
    private static let pamtester = "/usr/bin/pamtester"

    static var isPossible: Bool {
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        let has = { (name: String) in folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(name)") } }
        return has(preload) && has("security/pam_debug.so") && FileManager.default.fileExists(atPath: pamtester)
    }

    private struct Random {
        var state: UInt64
        mutating func pick(_ values: [String]) -> String {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return values[Int(state >> 33) % values.count]
        }
    }

    private static let answers = ["success", "auth_err", "ignore", "maxtries", "user_unknown", "new_authtok_reqd"]
    private static let actions = ["ok", "ok", "ok", "done", "bad", "die", "ignore", "ignore", "reset", "1", "2"]

    private static func line(_ random: inout Random) -> String {
        let control: String
        switch random.pick(["word", "list"]) {
        case "word": control = random.pick(["required", "requisite", "sufficient", "optional"])
        default:
            let named = "\(random.pick(answers))=\(random.pick(actions))"
            control = "[success=\(random.pick(actions)) \(named) default=\(random.pick(actions))]"
        }
        return
            "auth \(control) pam_debug.so auth=\(random.pick(answers + ["success", "success", "success", "success"]))\n"
    }

    static func libpamGrants(in folder: URL) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: pamtester)
        process.arguments = ["s", "nobody", "authenticate"]
        process.environment = [
            "LD_PRELOAD": preload, "PAM_WRAPPER": "1", "PAM_WRAPPER_SERVICE_DIR": folder.path, "PATH": "/usr/bin:/bin",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Would catch any rule of libpam's dispatcher that the walk has wrong: a bypass called closed, or the reverse.
    @Test(.enabled(if: isPossible, "needs pamtester, libpam-wrapper and pam_debug.so"))
    func answersAsTheMachinesLibpam() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("stacks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = Random(state: 20_261_130)
        var granted = 0
        for _ in 0..<200 {
            // By path, since pam_wrapper changes only where a service's own file is looked for.
            let (inner, outer) = ("\(folder.path)/inner", "\(folder.path)/outer")
            var files = ["s": "", inner: "", outer: "", "other": "auth required pam_deny.so\n"]
            for _ in 0..<3 { files[inner, default: ""] += Self.line(&random) }
            for _ in 0..<2 { files[outer, default: ""] += Self.line(&random) }
            for _ in 0..<5 {
                files["s", default: ""] += random.pick(["", "", "auth substack \(inner)\n", "auth include \(outer)\n"])
                files["s", default: ""] += Self.line(&random)
            }
            for (name, text) in files {
                let path = name.hasPrefix("/") ? name : "\(folder.path)/\(name)"
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            }
            let service = ServiceFiles(files: files)
            let stack = try AuthenticationStack(service: Array("s".utf8), read: service.read)
            let walk = StackExploration(stack) { place in
                let argument = stack.modules[place].call.arguments.first ?? []
                return [PAMCode.all.first { argument.isText("auth=\($0.name)") } ?? .serviceError]
            }
            let expected = try Self.libpamGrants(in: folder)
            granted += expected ? 1 : 0
            #expect((walk.success != nil) == expected, "\(files)")
        }
        // Both answers must have been met often, else the comparison says little.
        #expect(granted >= 30 && granted <= 170, "\(granted) of 200")
    }
}
