import Foundation
import Testing

/// A user with a PIN and a finger on a virtual reader, while sudo and su are under Signet's guard.
///
/// The finger that is enrolled as right index is called `right-index` at the reader too; whatever else is scanned is another.
struct Enrolled {
    /// A PIN that no rule refuses.
    static let pin = "806357"
    static let finger = "right-index"

    let user: User
    let reader: VirtualReader
    let kind: VirtualReader.Kind

    /// Runs `body` with such a user.
    ///
    /// nil for `finger` enrols none. `lines` are further `key = value` of the configuration.
    static func with(
        _ kind: VirtualReader.Kind = .plain, finger: String? = finger, lines: [String] = [], sudoer: Bool = true,
        body: (Enrolled) throws -> Void
    ) throws {
        let reader = try VirtualReader(kind)
        try reader.configured(lines.joined(separator: "\n")) {
            try Guarded.services(["sudo", "su", "su-l"]) {
                let person = Enrolled(user: try User.fresh(sudoer: sudoer), reader: reader, kind: kind)
                try person.setPIN()
                if let finger { try person.enroll(finger) }
                try body(person)
            }
        }
    }

    /// Another user of the same reader, with a PIN and the finger of this name.
    func another(finger: String?) throws -> Enrolled {
        let other = Enrolled(user: try User.fresh(), reader: reader, kind: kind)
        try other.setPIN()
        if let finger { try other.enroll(finger) }
        return other
    }

    // MARK: The command line

    /// What sudo tells a program of its caller.
    var asUser: [String: String] {
        Child.environment.merging(["SUDO_UID": "\(user.uid)", "SUDO_USER": user.name]) { $1 }
    }

    /// Runs `signet` without a terminal, as the user's own sudo would, or as an administrator.
    func signet(_ arguments: String..., input: String = "", byAdministrator: Bool = false) throws -> Command {
        var words = ["signet"] + arguments
        if byAdministrator { words += ["--user", user.name] }
        return try Command.run(words, input: input, environment: byAdministrator ? Child.environment : asUser)
    }

    /// The same on a terminal.
    func signetOnTerminal(
        _ arguments: String..., environment: [String: String] = [:], byAdministrator: Bool = false
    ) throws -> Terminal {
        var words = ["signet"] + arguments
        if byAdministrator { words += ["--user", user.name] }
        let variables = byAdministrator ? Child.environment : asUser
        return try Terminal(words, environment: variables.merging(environment) { $1 })
    }

    private func setPIN() throws {
        let result = try signet("pin", "set", "--stdin", input: Enrolled.pin + "\n")
        guard result.code == 0 else { throw HarnessError("no PIN was set: \(result.error)") }
    }

    /// Starts an enrolment, proves the PIN, and waits until the first stage may come.
    func beginEnrolling(as name: String = "right-index", chip: [String] = [], byAdministrator: Bool = false) throws
        -> Terminal
    {
        let terminal = try signetOnTerminal("enroll", name, byAdministrator: byAdministrator)
        if byAdministrator {
            try terminal.waitForSecretPrompt("or Enter to go on without it: ")
            try terminal.type(line: "")
        } else {
            try terminal.waitForSecretPrompt("PIN: ")
            try terminal.type(line: Enrolled.pin)
        }
        try fill(chip: chip)
        try terminal.waitFor("over the reader, again and again.")
        return terminal
    }

    /// Enrols the finger and waits until it is done.
    ///
    /// `chip` is what a reader with a memory holds before.
    func enroll(_ finger: String, as name: String = "right-index", chip: [String] = [], byAdministrator: Bool = false)
        throws
    {
        let before = try status().fingerprint.fingers.count
        let terminal = try beginEnrolling(as: name, chip: chip, byAdministrator: byAdministrator)
        try reader.enrol(finger)
        try confirm(terminal, finger, chip: chip + [finger])
        // A reader that cannot identify compares each touch with one print, and asks to lift the finger until the last.
        for _ in 0..<(kind == .plain ? before : 0) {
            try terminal.waitFor("Lift your finger")
            try reader.scan(finger)
        }
        let code = try terminal.finish()
        guard code == 0 else { throw HarnessError("not enrolled (\(code)):\n\(terminal.transcript)") }
    }

    /// Gives the confirming touch, to a reader that was opened anew.
    func confirm(_ terminal: Terminal, _ finger: String, chip: [String]) throws {
        reader.forget()
        try fill(chip: chip)
        try terminal.waitFor("Touch once more to confirm.")
        try reader.scan(finger)
    }

    /// libfprint's virtual memory lives in the process that opened the reader, so each opening is given what it holds.
    func fill(chip: [String]) throws {
        guard kind == .storage else { return }
        for finger in chip { try reader.insert(finger) }
        try reader.proceed()
    }

    /// Activates with PIN and touch.
    func activate(_ finger: String = finger, chip: [String] = [finger]) throws -> Terminal {
        let terminal = try signetOnTerminal("activate")
        try terminal.waitForSecretPrompt("PIN: ")
        try terminal.type(line: Enrolled.pin)
        try fill(chip: chip)
        try terminal.waitFor("Touch the reader with an enrolled finger.")
        try reader.scan(finger)
        return terminal
    }

    // MARK: What is known

    /// The parts of `signet status --json` that these tests look at.
    struct Status: Decodable {
        struct Fingerprint: Decodable {
            struct Finger: Decodable { let finger: String }
            let on: Bool
            let reason: String?
            let fingers: [Finger]
        }
        struct Lockout: Decodable { let fingerFailures: Int, fingerLockedOut: Bool, pinFailures: Int, pinState: String }
        let fingerprint: Fingerprint
        let lockout: Lockout
    }

    func status(in boot: BootShift? = nil) throws -> Status {
        let words = ["signet", "status", "--user", user.name, "--json"]
        let result = try Command.run(boot?.command(words) ?? words)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do { return try decoder.decode(Status.self, from: Data(result.output.utf8)) } catch {
            throw HarnessError("signet status answered \(result.code): \(result.output)\(result.error)")
        }
    }

    /// Finger tries that are charged and neither cleared nor refunded.
    func fingerFailures() throws -> Int { try status().lockout.fingerFailures }

    /// Takes away the records of everybody else, whose prints for the same virtual reader earlier tests have left.
    func forgetOthers() throws {
        try Command.must(
            "find", "/var/lib/signet/users", "-mindepth", "1", "-maxdepth", "1", "!", "-name", "\(user.uid)", "-exec",
            "rm", "-rf", "{}", "+")
        // It is made anew from the records that are left.
        try Command.must("rm", "-f", "/var/lib/signet/chips")
    }

    /// The sealed prints, and where they lie.
    var printsFile: String { "/var/lib/signet/users/\(user.uid)/prints" }
}

/// Service files as the product itself makes them.
enum Guarded {
    /// Runs `body` while `signet pam guard` has put Signet into these services; `arguments` follow the module's name.
    static func services<Result>(_ names: [String], arguments: String = "", _ body: () throws -> Result) throws
        -> Result
    {
        guard let name = names.first else { return try body() }
        var text = try Command.must("signet", "pam", "guard", name)
        if !arguments.isEmpty {
            text = text.replacingOccurrences(of: "pam_signet.so", with: "pam_signet.so \(arguments)")
        }
        return try File.replaced("/etc/pam.d/\(name)", with: text) {
            try services(Array(names.dropFirst()), arguments: arguments, body)
        }
    }
}
