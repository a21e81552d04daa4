internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

// Who gets in: the services that ask Signet, and the people who need them.

extension Doctor {
    /// Services that make somebody root or let them in, and so are looked at whether they ask Signet or not.
    private static let doors = ["sudo", "sudo-i", "su", "su-l", "login"]

    /// The review of each service that names Signet, and of each door that stands open to everybody or is shut to all.
    func serviceLines() -> [DoctorLine] {
        let read: ([UInt8]) -> [UInt8]? = { ServiceFiles.read($0) }
        let odd = Doctor.doors.filter { service in
            !guarded.contains(service) && ServiceFiles.exists(service, extra: [])
                && (StackReview.opensWithoutProof(Array(service.utf8), read: read)
                    || StackReview.refusesEveryProof(Array(service.utf8), read: read))
        }
        let oddLines = odd.flatMap { Doctor.lines($0, ServiceFiles.findings(for: $0)) }
        if guarded.isEmpty {
            return oddLines + [
                DoctorLine(.note, "pam", "no service asks Signet yet", remedy: "scripts/install --service sudo")
            ]
        }
        return oddLines + guarded.flatMap { Doctor.lines($0, ServiceFiles.findings(for: $0)) }
    }

    /// The lines for one service's findings.
    static func lines(_ service: String, _ findings: [StackFinding]) -> [DoctorLine] {
        let subject = "pam \(Output.text(Array(service.utf8)))"
        if findings.isEmpty { return [.ok(subject, "only Signet's yes lets anybody in")] }
        let rival =
            findings.contains { $0.isAbout("pam_fprintd.so") }
            ? [
                DoctorLine(
                    .warn, subject, "pam_fprintd and Signet want the same reader: who comes second finds it in use",
                    remedy: "take pam_fprintd.so out of this service's files")
            ] : []
        return rival
            + findings.map { finding in
                let level: DoctorLine.Level =
                    switch finding.severity {
                    case .failure: .fail
                    case .warning: .warn
                    case .note: .note
                    }
                return DoctorLine(level, subject, finding.sentence, remedy: finding.remedy)
            }
    }

    /// The clock that waits run on, and the log that decisions go to.
    func surroundingLines() -> [DoctorLine] {
        var lines: [DoctorLine] = []
        var clock = SystemClock()
        do throws(ClockUnreadable) {
            _ = try clock.now()
            lines.append(.ok("clock", "the boot clock can be read"))
        } catch {
            lines.append(
                DoctorLine(
                    .fail, "clock", "the boot clock or /proc cannot be read", remedy: "mount /proc, then try again"))
        }
        if PlainFile.exists(Output.text(SystemLog.standardPath)) {
            lines.append(.ok("journal", "a log daemon listens at \(Output.text(SystemLog.standardPath))"))
        } else {
            lines.append(
                DoctorLine(
                    .warn, "journal",
                    "nobody listens at \(Output.text(SystemLog.standardPath)): decisions are not recorded",
                    remedy: "start systemd-journald or rsyslog"))
        }
        return lines
    }
}

/// The machine's groups.
enum Groups {
    /// Those whose members administer a machine, on one distribution or another.
    static let administrators = ["sudo", "wheel", "admin"]

    /// The name of the group with this number, or nil where there is none.
    static func name(of group: UInt32) -> [UInt8]? {
        // SAFETY: the command line has one thread; the answer is read before the next such call, and ends with a zero.
        guard let entry = unsafe getgrgid(group), let name = unsafe entry.pointee.gr_name else { return nil }
        return Array(unsafe String(cString: name).utf8)
    }

    /// The named members of those of the groups that are there, each once, in alphabetical order.
    static func members(of groups: [String]) -> [String] {
        var names: Set<String> = []
        for group in groups {
            // SAFETY: the command line has one thread; the answer is read before the next such call.
            guard let entry = unsafe getgrnam(group), var member = unsafe entry.pointee.gr_mem else { continue }
            // SAFETY: the list ends with a null pointer, and each name is terminated.
            while let name = unsafe member.pointee {
                unsafe names.insert(String(cString: name))
                unsafe member += 1
            }
        }
        return names.sorted()
    }
}

extension StackFinding {
    /// Whether it is that another proof's module of this name grants, or is needed, in Signet's stack.
    func isAbout(_ module: String) -> Bool {
        switch matter {
        case .otherProofGrants(let name, _), .otherProofNeededToo(let name): name.elementsEqual(module.utf8)
        default: false
        }
    }
}
