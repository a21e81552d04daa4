internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

// The TPM helper: the only program of Signet's that needs tpm2-tss.

extension Doctor {
    /// Who the helper is, and whether what it needs is there; `isNeeded` where nobody gets in without it.
    func enclaveHelperLines(isNeeded: Bool) -> [DoctorLine] {
        let path = loaded.configuration.enclaveHelper ?? Machine.enclavePath
        let level: DoctorLine.Level = isNeeded ? .fail : .note
        if let problem = SafePath.problem(with: path, .program) {
            return [Doctor.line("tpm helper", problem, problem.matter == .missing ? level : .fail)]
        }
        let missing = TPMLibraries.missing(for: Output.text(path))
        guard missing.isEmpty else {
            return [
                DoctorLine(
                    level, "tpm helper",
                    "\(missing.joined(separator: " ")) \(missing.count == 1 ? "is" : "are") not there",
                    remedy: "install tpm2-tss; on Debian: sudo apt install \(TPMLibraries.packages)")
            ]
        }
        return [.ok("tpm helper", "\(Output.text(path)) is root's alone, and its libraries are there")]
    }
}

/// The libraries that the TPM helper loads when it starts.
enum TPMLibraries {
    /// Debian's names for what is looked for.
    static let packages = "libtss2-esys-3.0.2-0 libtss2-tcti-device0 libtss2-tcti-swtpm0"
    /// Larger than any build of the helper.
    private static let sizeLimit = 64 << 20

    /// Those that are not found where the loader looks by default (ld.so(8)); none where the file is no program of ours.
    static func missing(for program: String) -> [String] {
        guard let bytes = PlainFile.read(program, limit: sizeLimit), let needed = ELFNeeds.libraries(of: bytes) else {
            return []
        }
        let folders = folders()
        return needed.filter { name in
            !folders.contains { PlainFile.exists("\($0)/\(name)") }
        }
    }

    private static func folders() -> [String] {
        var folders = ["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"]
        for base in ["/usr/lib", "/usr/local/lib"] {
            folders += FolderList.names(in: base).filter { $0.contains("-linux-") }.map { "\(base)/\($0)" }
        }
        return folders
    }
}
