import Foundation

/// A recorded reader that umockdev keeps on its bus, for as long as this object lives.
///
/// umockdev-run closes all descriptors and forks, so it cannot stand between Signet and the helper: it starts a program
/// that only sleeps, and the helper's wrapper takes over the two variables that lead into the testbed.
final class Testbed {
    private let process = Process()
    /// Lines for a wrapper script.
    let exports: String
    private let sleeper: pid_t

    /// The folder of one recording, or nil where it is not there.
    static func recording(_ name: String) -> String? {
        let folder =
            ProcessInfo.processInfo.environment["SIGNET_RECORDINGS"] ?? Stage.packageRoot + "/../shared/recordings"
        let path = folder + "/" + name
        return FileManager.default.fileExists(atPath: path + "/device") ? path : nil
    }

    /// Why recordings cannot be replayed here, or nil.
    static func obstacle(_ name: String) -> String? {
        guard recording(name) != nil else { return "no recording of \(name); set SIGNET_RECORDINGS" }
        return FileManager.default.isExecutableFile(atPath: "/usr/bin/umockdev-run") ? nil : "umockdev is not installed"
    }

    /// The replay of a whole recording.
    convenience init?(_ name: String, _ stage: Stage) throws {
        guard let folder = Testbed.recording(name) else { return nil }
        try self.init(folder: folder, stage)
    }

    /// The same for a recording's folder, or for its device with other traffic, a pcapng file.
    convenience init?(folder: String, traffic: String? = nil, _ stage: Stage) throws {
        var arguments: [String] = []
        for entry in try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        where entry == "device" || entry.hasPrefix("device-") {
            arguments += ["-d", folder + "/" + entry]
        }
        let rewritten = FileManager.default.fileExists(atPath: folder + "/custom.pcapng")
        let capture = folder + (rewritten ? "/custom" : "/capture")
        if traffic != nil || FileManager.default.fileExists(atPath: capture + ".pcapng") {
            let device = try Testbed.firstLine(folder + "/device").dropFirst(3)
            arguments += ["-p", "/sys\(device)=\(traffic ?? capture + ".pcapng")"]
        } else {
            let node = try Testbed.firstLine(capture + ".ioctl").dropFirst(5).split(separator: " ").first ?? ""
            arguments += ["-i", "\(node)=\(capture).ioctl"]
        }
        try self.init(arguments: arguments, stage)
    }

    static func firstLine(_ path: String) throws -> Substring {
        let data = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(512)
        return String(decoding: data, as: UTF8.self).prefix { $0 != "\n" }
    }

    /// Takes umockdev-run's own arguments, and shell commands that change the bus before anybody sees it.
    init?(arguments: [String], before preparation: String = ":", _ stage: Stage) throws {
        let file = stage.folder + "/testbed"
        // An earlier one of the same stage.
        try? FileManager.default.removeItem(atPath: file)
        let script =
            "\(preparation); env | grep -E '^(UMOCKDEV_|LD_PRELOAD)' > '\(file).new'; echo $$ >> '\(file).new'; "
            + "mv '\(file).new' '\(file)'; exec sleep 120"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/umockdev-run")
        process.arguments = arguments + ["--", "sh", "-c", script]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        var lines: [String] = []
        for _ in 0..<500 where lines.isEmpty {
            usleep(10_000)
            if let text = try? String(contentsOfFile: file, encoding: .utf8) {
                lines = text.split(separator: "\n").map(String.init)
            }
        }
        guard let last = lines.popLast(), let pid = pid_t(last) else {
            process.terminate()
            return nil
        }
        sleeper = pid
        exports = lines.map { line in
            let parts = line.split(separator: "=", maxSplits: 1)
            return "export \(parts[0])='\(parts.count > 1 ? parts[1] : "")'"
        }.joined(separator: "\n")
    }

    deinit {
        kill(sleeper, SIGTERM)
        process.waitUntilExit()
    }
}
