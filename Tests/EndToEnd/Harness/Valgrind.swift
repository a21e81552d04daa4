import Glibc

/// Runs the tests' PAM host, and with it the shipped module, under valgrind's Memcheck.
///
/// Helpers that the module starts run as ever; the child between fork and exec is watched. Memory of sodium_malloc(3)
/// comes straight from mmap(2): reads and writes beyond its pages end the program, but what was never written there
/// counts as written.
struct Valgrind {
    /// The shipped module's twin: the same code, with the names by which a suppression knows a function.
    static let module = World.stage + "/named/pam_signet.so"

    /// Each kind of fault that was seen, once: invalid reads and writes, uninitialised values, leaks, descriptors left
    /// open.
    let faults: [String]

    private static let options = [
        "--leak-check=full", "--show-leak-kinds=definite,indirect,possible", "--track-fds=yes",
        "--suppressions=\(World.packageRoot)/Tests/Sanitized/memcheck.supp",
        // What is freed or not yet written must not look like something.
        "--malloc-fill=0xa5", "--free-fill=0x5a",
    ]

    /// The command that writes what it finds into the folder.
    static func command(_ words: [String], into folder: String) -> [String] {
        ["valgrind"] + options + ["--log-file=\(folder)/%p"] + words
    }

    /// Reads what was found.
    init(in folder: String) throws {
        let names = try Command.must("ls", folder).split(separator: "\n")
        let logs = try names.map { try File.read("\(folder)/\($0)") }
        guard logs.contains(where: { $0.contains("ERROR SUMMARY: ") }) else {
            throw HarnessError("valgrind did not come to its end: \(logs)")
        }
        var faults: Set<String> = []
        let kinds = [
            "Invalid read", "Invalid write", "Invalid free", "Mismatched free", "uninitialised", "unaddressable",
            "definitely lost in", "indirectly lost in", "possibly lost in", "overlap in", "Jump to the invalid address",
            "unhandled instruction", "Process terminating", "silly arg",
        ]
        for log in logs {
            for kind in kinds where log.contains(kind) { faults.insert(kind) }
            // Each open descriptor is followed by where it came from; what the test gave is no matter of the program's.
            let lines = log.split(separator: "\n")
            for (line, next) in zip(lines, lines.dropFirst())
            where line.contains(" Open ") && !next.contains("<inherited from parent>") { faults.insert("descriptor") }
            for match in log.matches(of: /ERROR SUMMARY: ([1-9]\d*) errors/) where faults.isEmpty {
                faults.insert("\(match.1) errors")
            }
        }
        self.faults = faults.sorted()
    }
}
