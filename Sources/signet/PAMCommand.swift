internal import CPlatform
internal import SignetEngine
internal import SignetRecords

/// `signet pam`: what the service files of PAM do, and what they would be with Signet in them.
///
/// Only `try` needs root; the others read files that everyone may read, and nothing is changed.
struct PAMCommand {
    static let help = """
        usage: signet pam check [--json] [--dir DIR]... SERVICE...
               signet pam guard [--dir DIR]... SERVICE
               signet pam try --user NAME SERVICE

        check   says what each service does: who gets in without Signet, and what to change.
                Exit 0 where nothing is wrong, 1 where something is.
        guard   prints the service's file with Signet in the password line's place.
                Exit 1 where that has to be done by hand; the reason is printed.
        try     authenticates the user through the service, and starts nothing. For root.

        --dir DIR   look here before /etc/pam.d and /usr/lib/pam.d
        """

    private var folders: [String] = []
    private var services: [String] = []
    private var asJSON = false
    private var user = ""

    /// Runs it with what follows `pam`; the answer is the exit code.
    static func run(_ arguments: [String]) -> Int32 {
        var command = PAMCommand()
        guard let verb = arguments.first else { return complain("pam needs a command", hint: "signet pam --help", 2) }
        if verb == "--help" || arguments.contains("--help") {
            print(help)
            return 0
        }
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            if word == "--json" {
                command.asJSON = true
            } else if word == "--dir" {
                guard let folder = rest.popFirst() else {
                    return complain("--dir needs a folder", hint: "signet pam --help", 2)
                }
                command.folders.append(folder)
            } else if word == "--user" {
                guard let name = rest.popFirst(), !name.isEmpty else {
                    return complain("--user needs a name", hint: "signet pam --help", 2)
                }
                command.user = name
            } else if word.hasPrefix("-") || word.contains("/") || word.isEmpty {
                return complain("\"\(word)\" is not understood", hint: "signet pam --help", 2)
            } else {
                command.services.append(word)
            }
        }
        command.folders += ["/etc/pam.d", "/usr/lib/pam.d"]
        guard !command.services.isEmpty else { return complain("which service?", hint: "signet pam check sudo", 2) }
        switch verb {
        case "check": return command.check()
        case "guard": return command.printGuarded()
        case "try": return command.tryService()
        default: return complain("there is no \"pam \(verb)\"", hint: "signet pam --help", 2)
        }
    }

    private func check() -> Int32 {
        var failed = false
        var rows: [String] = []
        for service in services {
            let name = Array(service.utf8)
            let findings = StackReview.findings(for: name, read: read)
            let isGuarded = StackReview.isGuarded(name, read: read)
            let takesPassword = StackReview.grantsForPassword(name, read: read)
            failed = failed || !isGuarded || findings.contains { $0.severity == .failure }
            if asJSON {
                let list = findings.map(json).joined(separator: ",")
                rows.append(
                    "{\"service\":\(quoted(service)),\"guarded\":\(isGuarded),"
                        + "\"system_password_grants\":\(takesPassword),\"findings\":[\(list)]}")
            } else {
                if findings.isEmpty { print("ok    pam \(service)") }
                for finding in findings { print(line(finding, service)) }
            }
        }
        if asJSON { print("{\"schema_version\":1,\"services\":[\(rows.joined(separator: ","))]}") }
        return failed ? 1 : 0
    }

    private func tryService() -> Int32 {
        guard services.count == 1, let service = services.first, !user.isEmpty else {
            return PAMCommand.complain("which user, and which service?", hint: "signet pam try --user alice login", 2)
        }
        return PAMTrial(service: service, user: user).run()
    }

    private func printGuarded() -> Int32 {
        guard services.count == 1, let service = services.first else {
            return PAMCommand.complain("one service at a time", hint: "signet pam guard sudo", 2)
        }
        do {
            let bytes = try StackGuard.guarded(Array(service.utf8), read: read)
            print(String(decoding: bytes, as: UTF8.self), terminator: "")
            return 0
        } catch {
            return PAMCommand.complain(
                PAMCommand.text(error, service), hint: "man 8 pam_signet has the line to write", 1)
        }
    }

    // MARK: Words

    private func line(_ finding: StackFinding, _ service: String) -> String {
        let label = ["fail  ", "warn  ", "note  "][Int(min(finding.severity.rawValue, 2))]
        let place = finding.line > 0 ? " (\(String(decoding: finding.file, as: UTF8.self)), line \(finding.line))" : ""
        return "\(label)pam \(service): \(finding.sentence)\(place)\n      \(finding.remedy)"
    }

    private func json(_ finding: StackFinding) -> String {
        let severity = ["failure", "warning", "note"][Int(min(finding.severity.rawValue, 2))]
        return "{\"severity\":\"\(severity)\",\"file\":\(quoted(String(decoding: finding.file, as: UTF8.self))),"
            + "\"line\":\(finding.line),\"text\":\(quoted(finding.sentence)),\"remedy\":\(quoted(finding.remedy))}"
    }

    /// A JSON string: quotes, backslashes and control characters escaped.
    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case let control where control.value < 0x20:
                let digits = String(control.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func text(_ fault: StackGuardFault, _ service: String) -> String {
        switch fault {
        case .stack(let fault): fault.sentence
        case .noFile: "there is no service \(service)"
        case .noPasswordLine: "\(service) has no password line whose place Signet could take"
        case .lineInTheWay(let file, let line):
            "line \(line) of \(String(decoding: file, as: UTF8.self)) cannot stay as it is beside Signet's"
        case .wouldNotHold(let finding): "\(service) would not be safe: \(finding.sentence)"
        }
    }

    static func complain(_ sentence: String, hint: String, _ code: Int32) -> Int32 {
        for line in ["signet: \(sentence)\n", "hint: \(hint)\n"] {
            let bytes = Array(line.utf8)
            // SAFETY: the buffer lives for the call and its own count is passed.
            unsafe bytes.withUnsafeBytes { _ = unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
        return code
    }

    // MARK: Files

    private func read(_ name: [UInt8]) -> [UInt8]? {
        let text = String(decoding: name, as: UTF8.self)
        if text.hasPrefix("/") { return PAMCommand.contents(of: text) }
        for folder in folders {
            if let bytes = PAMCommand.contents(of: "\(folder)/\(text)") { return bytes }
        }
        return nil
    }

    /// A file's bytes, at most one more than a service file may have; nil where it cannot be read.
    private static func contents(of path: String) -> [UInt8]? {
        // SAFETY: the path is a C string for the call.
        let descriptor = unsafe signet_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while result.count <= PAMFile.byteLimit {
            // SAFETY: the buffer lives for the call and its own count is passed.
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe CPlatform.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 { return nil }
            if count == 0 { break }
            result.append(contentsOf: buffer[..<count])
        }
        return result
    }
}
