import Glibc
import Testing

/// A program that asks for a PIN and whose memory is looked at.
enum WatchedProgram: String, CaseIterable, CustomTestStringConvertible {
    case signet, sudo, su, login

    var testDescription: String { rawValue }

    /// The PAM services that the program uses; none for the command line.
    var services: [String] { self == .signet ? [] : [rawValue] }

    /// What the terminal shows, and the program that stays then, once the PIN was right.
    var granted: String { self == .signet ? "PIN recognised." : self == .login ? "$ " : "granted-42" }

    /// What it shows next after a wrong PIN; `signet` stays at its end.
    var refused: String {
        switch self {
        case .signet: "Not recognised."
        case .sudo, .su: "PIN: "
        case .login: "login: "
        }
    }

    /// Starts it for the user.
    ///
    /// What it runs after a success stays until it is killed; so does `signet` at its end.
    func start(_ user: User) throws -> Terminal {
        let stay = "echo granted-$((6*7)); exec sleep 300"
        switch self {
        case .signet:
            let environment = [
                "SUDO_UID": "\(user.uid)", "SUDO_USER": user.name, "LD_PRELOAD": "\(World.tools)/linger.so",
            ]
            return try Terminal(
                ["signet", "verify"], environment: Child.environment.merging(environment) { $1 })
        case .sudo: return try Terminal(["sudo", "-k", "sh", "-c", stay], as: user)
        case .su: return try Terminal(["su", user.name, "-c", stay], as: user)
        case .login: return try Terminal(["login", user.name])
        }
    }

    /// Runs `body` with services in which Signet stands as it is shipped.
    func guarded(_ body: () throws -> Void) throws { try Guarded.services(services, body) }

    /// Runs `body` with services in which the program stays, inside pam_authenticate(3), after Signet refused.
    func staying(_ body: () throws -> Void) throws {
        guard let service = services.first else { return try body() }
        let lines = ["auth [default=bad] pam_signet.so", "auth required pam_exec.so quiet /usr/bin/sleep 300"]
        try PAMStack.with(service, auth: lines, body)
    }
}

/// One who has a PIN that stands nowhere by chance, and a finger of such a name on a virtual reader.
struct WatchedPerson {
    let user: User
    let pin = KnownSecrets.pin()
    let secrets: KnownSecrets

    /// Runs `body` with such a person; `lines` are further `key = value` of the configuration.
    static func with(lines: [String] = [], finger: Bool = false, _ body: (WatchedPerson) throws -> Void) throws {
        let reader = try VirtualReader()
        try reader.configured(lines.joined(separator: "\n")) {
            try body(WatchedPerson(reader, finger: finger))
        }
    }

    private init(_ reader: VirtualReader, finger: Bool) throws {
        user = try User.fresh()
        try Signet.setPIN(user, pin)
        if finger {
            let enrolled = Enrolled(user: user, reader: reader, kind: .plain)
            let terminal = try enrolled.signetOnTerminal("enroll", "right-index")
            try terminal.waitForSecretPrompt("PIN: ")
            try terminal.type(line: pin)
            try terminal.waitFor("over the reader, again and again.")
            let name = KnownSecrets.pin()
            try reader.enrol(name)
            try enrolled.confirm(terminal, name, chip: [])
            guard try terminal.finish() == 0 else { throw HarnessError("not enrolled:\n\(terminal.transcript)") }
        }
        secrets = try KnownSecrets(of: user, pin: pin)
    }
}

extension Terminal {
    /// Waits for Signet's prompt, in any of its forms.
    func waitForPIN() throws {
        _ = try waitForAny(["PIN: ", "touch the reader: "])
        let end = monotonicMilliseconds() + 2000
        while echoes {
            guard monotonicMilliseconds() < end else { throw HarnessError("the prompt shows what is typed") }
            usleep(2000)
        }
    }

    /// Waits until a program runs as the child of this one, as pam_exec(8) starts it.
    func waitForChild(_ name: String, within seconds: Double = 10) throws -> pid_t {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while true {
            let children = (try? File.read("/proc/\(process)/task/\(process)/children")) ?? ""
            for child in children.split(separator: " ").compactMap({ pid_t($0) })
            where (try? File.read("/proc/\(child)/comm")) == "\(name)\n" { return child }
            guard monotonicMilliseconds() < end else {
                throw HarnessError("\(name) was not started; the terminal showed:\n\(transcript)")
            }
            usleep(2000)
        }
    }

    /// Waits until the program sleeps, as one does that waits for a key or a child.
    func waitUntilIdle(within seconds: Double = 10) throws {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        var quiet = 0
        while quiet < 5 {
            let state = try File.read("/proc/\(process)/stat").split(separator: ")").last?.dropFirst().first
            quiet = state == "S" ? quiet + 1 : 0
            guard monotonicMilliseconds() < end else { throw HarnessError("the program does not come to rest") }
            usleep(5000)
        }
    }

    /// Stops the program while it derives a key, which shows by the work area of so many MiB.
    func freezeInDerivation(memoryMiB: UInt, within seconds: Double = 20) throws {
        func derives() throws -> Bool {
            try MemoryImage.mappings(of: process).contains {
                $0.range.count >= memoryMiB << 20 && $0.permissions == "rw-p"
            }
        }
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while try !derives() {
            guard monotonicMilliseconds() < end else {
                throw HarnessError("no key was derived; the terminal showed:\n\(transcript)")
            }
        }
        // So that its stack has all that it will have.
        usleep(100_000)
        signal(SIGSTOP)
        while try File.read("/proc/\(process)/stat").split(separator: ")").last?.dropFirst().first != "T" {
            guard monotonicMilliseconds() < end else { throw HarnessError("the program does not stop") }
            usleep(500)
        }
        guard try derives() else { throw HarnessError("the key was derived before the program could be stopped") }
    }
}
