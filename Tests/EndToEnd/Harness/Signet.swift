import Foundation
import Testing

/// The installed product, used as a person and an administrator use it.
enum Signet {
    /// A PIN that no rule refuses, and some that are wrong; none is the beginning of another.
    static let pin = "806357"
    static func wrongPIN(_ number: Int) -> String { "5\(317 + number)94" }

    /// Where the records lie.
    static let store = "/var/lib/signet"
    static func folder(_ user: User) -> String { "\(store)/users/\(user.uid)" }

    /// What the user reads in these states, as the journal's counterpart is `event=…`.
    static func damaged(_ user: User) -> String { "Signet's record for \(user.name) is damaged." }

    /// A new user of the world who has set a PIN.
    static func user(pin: String = pin, sudoer: Bool = true) throws -> User {
        let user = try User.fresh(sudoer: sudoer)
        try setPIN(user, pin)
        return user
    }

    /// Sets a PIN as the user does with sudo, without a recovery code.
    static func setPIN(_ user: User, _ pin: String = pin) throws {
        try must(["pin", "set", "--stdin"], for: user, input: pin + "\n")
    }

    /// Sets a PIN for the user, as an administrator.
    static func setPINAsAdministrator(_ user: User, _ pin: String = pin) throws {
        try must(["pin", "set", "--user", user.name, "--stdin"], input: pin + "\n")
    }

    /// Sets a PIN at a terminal, and answers the recovery code that it shows.
    static func setPINAndShowCode(_ user: User, _ pin: String = pin) throws -> String {
        let terminal = try Terminal(["signet", "pin", "set"], environment: environment(of: user))
        for _ in 1...2 {
            try terminal.waitForSecretPrompt("New PIN")
            try terminal.type(line: pin)
        }
        try terminal.putCodeAway()
        #expect(try terminal.finish() == 0)
        let code = try #require(terminal.transcript.firstMatch(of: /(?:[0-9A-Z]{5}-){5}[0-9A-Z]/))
        return String(code.0)
    }

    static func reset(_ user: User) throws { try must(["lockout", "reset", "--user", user.name]) }

    /// The counters, as `signet lockout status --json` tells them.
    struct Lockout: Decodable, Equatable {
        let fingerFailures: Int
        let fingerLockedOut: Bool
        let pinFailures: Int
        /// "open", "waiting" or "disabled".
        let pinState: String
        let waitSeconds: Int
        let closedTo: [String]
    }

    private struct LockoutAnswer: Decodable {
        let lockout: Lockout
    }

    /// `boot` asks in another boot, as the programs of the test do.
    static func lockout(_ user: User, in boot: BootShift? = nil) throws -> Lockout {
        let words = ["signet", "lockout", "status", "--user", user.name, "--json"]
        let result = try Command.run(boot?.command(words) ?? words)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do {
            return try decoder.decode(LockoutAnswer.self, from: Data(result.output.utf8)).lockout
        } catch {
            throw HarnessError("signet lockout status answered \(result.code): \(result.output)\(result.error)")
        }
    }

    /// Runs the command line as root that must succeed; `user` is whose sudo started it.
    @discardableResult
    static func must(_ arguments: [String], for user: User? = nil, input: String = "") throws -> String {
        let variables = user.map(environment(of:)) ?? Child.environment
        let result = try Command.run(["signet"] + arguments, input: input, environment: variables)
        guard result.code == 0 else {
            throw HarnessError("signet \(arguments) answered \(result.code): \(result.error)\(result.output)")
        }
        return result.output
    }

    /// Runs `body` while the services have Signet in the password's place, as `signet pam guard` writes it.
    static func guarding<Result>(_ services: String..., body: () throws -> Result) throws -> Result {
        try guarding(services[...], body)
    }

    private static func guarding<Result>(_ services: ArraySlice<String>, _ body: () throws -> Result) throws -> Result {
        guard let service = services.first else { return try body() }
        let text = try must(["pam", "guard", service])
        return try File.replaced("/etc/pam.d/\(service)", with: text) { try guarding(services.dropFirst(), body) }
    }

    /// Runs `body` while the service `signet-test` is Signet alone, then the probe for stored passwords.
    static func alone<Result>(_ arguments: String = "", body: (String) throws -> Result) throws -> Result {
        let auth = [
            "auth [success=ok default=die] pam_signet.so \(arguments)", "auth required \(World.tools)/pam_probe.so",
        ]
        return try PAMStack.with("signet-test", auth: auth) { try body("signet-test") }
    }

    static func environment(of user: User) -> [String: String] {
        Child.environment.merging(["SUDO_UID": "\(user.uid)", "SUDO_USER": user.name]) { $1 }
    }
}

/// sudo as a person meets it at a terminal.
enum Sudo {
    static let prompt = "Type your PIN: "
    static let command = ["sudo", "-k", "id", "-u"]

    /// Starts it, in another boot where one is given.
    static func start(_ user: User, in boot: BootShift? = nil) throws -> Terminal {
        if let boot { return try Terminal(boot.command(command, as: user)) }
        return try Terminal(command, as: user)
    }

    /// Answers each prompt with one of these, and waits for the end.
    static func answer(_ user: User, _ answers: [String], in boot: BootShift? = nil) throws -> Ending {
        let terminal = try start(user, in: boot)
        for answer in answers {
            try terminal.waitForSecretPrompt(prompt)
            try terminal.type(line: answer)
        }
        return Ending(code: try terminal.finish(within: 30), shown: terminal.transcript)
    }

    /// Whether the PIN lets the user in.
    static func accepts(_ user: User, _ pin: String = Signet.pin, in boot: BootShift? = nil) throws -> Bool {
        try answer(user, [pin], in: boot).isGranted
    }

    /// The same without a terminal.
    static func answerOnPipes(_ user: User, _ answers: [String], options: [String] = []) throws -> Command {
        try Command.run(
            ["sudo", "-k", "-S"] + options + ["id", "-u"], as: user, input: answers.map { $0 + "\n" }.joined())
    }

    struct Ending {
        let code: Int
        let shown: String

        /// The command ran, as root.
        var isGranted: Bool { code == 0 && Terminal.lines(of: shown).last == "0" }
        /// It did not, and sudo ended by itself.
        var isRefused: Bool { code == 1 && Terminal.lines(of: shown).last != "0" }

        func count(of text: String) -> Int { shown.components(separatedBy: text).count - 1 }
    }
}
