import Foundation

/// A TPM of a test's own: swtpm on a socket in a folder of its own, for as long as this object lives.
///
/// It serves one connection at a time, and is not for two tests at once.
public final class SoftwareTPM {
    /// Where its state and its sockets lie.
    public let folder: String
    private var process: Process?

    /// Why there can be none here, or nil.
    public static let obstacle: String? =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/swtpm") ? nil : "swtpm is not installed"

    /// The socket of the TPM's commands.
    public var socket: String { folder + "/s" }

    /// The name of the interface to it, as Signet's configuration has it.
    public var interface: String { "swtpm:path=" + socket }

    /// The process, or -1 while it is stopped.
    public var pid: pid_t { process?.processIdentifier ?? -1 }

    /// Starts a TPM that was never used.
    public init() throws {
        // Sockets have short paths.
        var template = Array("/tmp/signet-tpm-XXXXXX\0".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let made else { throw CocoaError(.fileWriteUnknown) }
        folder = made
        try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: false)
        try start()
    }

    /// Switches it on, with what it kept.
    public func start() throws {
        for name in ["/s", "/s.ctrl"] { try? FileManager.default.removeItem(atPath: folder + name) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/swtpm")
        process.arguments = [
            "socket", "--tpm2", "--tpmstate", "dir=\(folder)/state", "--server", "type=unixio,path=\(socket)",
            "--ctrl", "type=unixio,path=\(socket).ctrl", "--flags", "not-need-init,startup-clear",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        for _ in 0..<1000 {
            if FileManager.default.fileExists(atPath: socket), FileManager.default.fileExists(atPath: socket + ".ctrl")
            {
                return
            }
            usleep(5_000)
        }
        throw CocoaError(.fileNoSuchFile)
    }

    /// Ends it without the command that a system gives its TPM before it switches off: a power cut.
    public func cutPower() {
        guard let process else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }

    /// Lets it answer nothing until `thaw`.
    public func freeze() { kill(pid, SIGSTOP) }

    /// Lets it go on.
    public func thaw() { kill(pid, SIGCONT) }

    /// Makes it another TPM: with new seeds, nothing defined, no failures.
    public func replace() throws {
        cutPower()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/state") {
            try FileManager.default.removeItem(atPath: folder + "/state/" + name)
        }
        try start()
    }

    deinit {
        cutPower()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
