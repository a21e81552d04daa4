internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

// What is installed: the configuration, the module that programs load, the helper and the readers behind it.

extension Doctor {
    func configurationLines() -> [DoctorLine] {
        let path = Output.text(ConfigurationLoader.standardPath)
        var lines: [DoctorLine] = []
        switch loaded.problem {
        case nil where !loaded.hasFile: lines.append(.ok("configuration", "there is no file, so the defaults rule"))
        case nil: lines.append(.ok("configuration", "\(path) can be used"))
        case .path(let problem): lines.append(Doctor.line("configuration", problem))
        case .text(let problems):
            let more = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
            let first = problems.first.map { Output.text(Array($0.sentence.utf8)) } ?? ""
            lines.append(
                DoctorLine(
                    .fail, "configuration", "fingers are off, the strictest limits rule: \(first)\(more)",
                    remedy: "sudo signet config check"))
        }
        if StandInReader.isConfigured(loaded.configuration) {
            lines.append(
                DoctorLine(
                    .warn, "configuration", "a \(StandInReader.label) is configured; it may say \"match\" for anybody",
                    remedy: "take sensor_helper out of \(path)"))
        }
        return lines
    }

    /// The module: in libpam's folder, root's alone, and in need of nothing that could be missing.
    func moduleLines() -> [DoctorLine] {
        let folders = ModuleFile.folders()
        let found = folders.filter { PlainFile.exists("\($0)/\(ModuleFile.name)") }
        guard let folder = found.first else {
            let text = "\(ModuleFile.name) is not installed"
            if guarded.isEmpty { return [DoctorLine(.note, "module", text, remedy: "scripts/install")] }
            let services = guarded.joined(separator: ", ")
            return [DoctorLine(.fail, "module", "\(text): nobody gets in by \(services)", remedy: "scripts/install")]
        }
        let path = "\(folder)/\(ModuleFile.name)"
        if let problem = SafePath.problem(with: Array(path.utf8), .file) { return [Doctor.line("module", problem)] }
        guard let bytes = PlainFile.read(path, limit: ModuleFile.sizeLimit), let needed = ELFNeeds.libraries(of: bytes)
        else {
            return [
                DoctorLine(
                    .fail, "module", "\(path) is no shared library of this machine", remedy: "install Signet anew")
            ]
        }
        let strange = needed.filter { name in !ModuleFile.expected.contains { name.hasPrefix($0) } }
        let names = needed.map { String($0.prefix { $0 != "." }) }.joined(separator: " ")
        let size = "\((bytes.count + 1023) / 1024) kB"
        if strange.isEmpty { return [.ok("module", "\(ModuleFile.name), \(size), needs \(names)")] }
        return [
            DoctorLine(
                .warn, "module", "\(ModuleFile.name) needs \(strange.joined(separator: " ")) as well",
                remedy: "install the Embedded build")
        ]
    }

    /// The reader helper and each folder above it.
    func helperLines() -> [DoctorLine] {
        let path = loaded.configuration.sensorHelper ?? Machine.sensorPath
        guard let problem = SafePath.problem(with: path, .program) else {
            return [.ok("helper", "\(Output.text(path)) is root's alone")]
        }
        return [Doctor.line("helper", problem)]
    }
}

/// The module's file.
enum ModuleFile {
    static let name = "pam_signet.so"
    /// Larger than any build, debug ones included.
    static let sizeLimit = 64 << 20
    /// The libraries that it may need, by the beginning of their names.
    static let expected = ["libc.so", "libpam.so", "libsodium.so", "ld-linux"]

    /// Folders that libpam loads modules from on Linux distributions: those that hold pam_permit.so, or ours.
    static func folders() -> [String] {
        var bases = ["/usr/lib", "/usr/lib64"]
        bases += FolderList.names(in: "/usr/lib").filter { $0.contains("-linux-") }.map { "/usr/lib/\($0)" }
        return bases.map { "\($0)/security" }.filter {
            PlainFile.exists("\($0)/pam_permit.so") || PlainFile.exists("\($0)/\(name)")
        }
    }
}

extension PlainFile {
    /// Whether anything is there.
    static func exists(_ path: String) -> Bool {
        // SAFETY: the path is passed as a C string for the time of the call.
        unsafe access(path, F_OK) == 0
    }
}
