import Glibc
import Testing

/// Each call of the shipped module fails in turn while a PIN is asked for.
@Suite(.serialized, .inWorld, .withProduct, .traced) struct PINFaults {
    // Would catch a failed call that lets somebody in or shuts them out without a word, kills or hangs the caller, or
    // breaks the next authentication.
    @Test func aRightPIN() throws {
        try Asked.with { asked in
            var scenario = asked.scenario("right PIN at a terminal", mayGrant: true, pin: Signet.pin)
            // Refused without a word: a field that cannot be waited at, a terminal that cannot be opened, a user who
            // cannot be looked up; and the terminal's modes, which were given back once only.
            scenario.known = [
                ("poll", .error(EINVAL)), ("openat-write", .lasting(EROFS)), ("read", .lasting(EIO)),
                ("ioctl", .error(EIO)),
            ]
            try scenario.sweep()
        }
    }

    // Would catch the same in the program's own conversation, where the module has no terminal.
    @Test func aRightPINInTheProgramsField() throws {
        try Asked.with("prompt=conversation") {
            try $0.scenario("right PIN in a program's field", mayGrant: true, pin: Signet.pin).sweep()
        }
    }

    // Would catch a failed call after which a wrong PIN is taken for the right one, or is not counted.
    @Test func aWrongPIN() throws {
        try Asked.with { try $0.scenario("wrong PIN", mayGrant: false, pin: Signet.wrongPIN(1)).sweep() }
    }

    // Would catch a failed call that ends a lockout.
    @Test func aRightPINWhileLockedOut() throws {
        try Asked.with { asked in
            for number in 1...5 {
                _ = try PAMHost.run(asked.service, asked.user.name, answers: [Signet.wrongPIN(number)])
            }
            try #require(try Signet.lockout(asked.user).pinState == "waiting")
            var scenario = asked.scenario("right PIN while locked out", mayGrant: false, pin: Signet.pin)
            scenario.after = { _ in
                let state = try Signet.lockout(asked.user)
                return state.pinState == "waiting" && state.pinFailures == 5 ? [] : ["the lockout is \(state)"]
            }
            try scenario.sweep()
        }
    }
}

/// Somebody who has a PIN, and the program that asks for it.
struct Asked {
    let service: String
    let user: User

    static func with(_ arguments: String = "", body: (Asked) throws -> Void) throws {
        let user = try Signet.user()
        try stack(arguments) { try body(Asked(service: $0, user: user)) }
    }

    /// Runs `body` while the service `signet-test` is Signet alone, between two marks for the tracer.
    static func stack(_ arguments: String = "", body: (String) throws -> Void) throws {
        let probe = "auth required \(World.tools)/pam_probe.so"
        let auth = ["\(probe) begin", "auth required pam_signet.so \(arguments)", "\(probe) end"]
        try PAMStack.with("signet-test", auth: auth) { try body("signet-test") }
    }

    /// The program at a terminal; afterwards the right PIN must let the user in.
    func scenario(_ name: String, mayGrant: Bool, pin: String) -> FaultScenario {
        FaultScenario(
            name: name, mayGrant: mayGrant,
            command: PAMHost.command(service, user.name, options: ["--conversation", "field"]),
            person: FaultPerson.types(pin),
            after: { outcome in
                // A PIN that was called wrong was counted before, but for a user whom the password database hides.
                let failures = try Signet.lockout(user).pinFailures
                let isUnknown = outcome.journal.contains { $0.contains("reason=unknown_user") }
                let isCounted = failures > 0 || isUnknown || !outcome.lines.contains { $0.contains("Wrong PIN") }
                return (isCounted ? [] : ["a wrong PIN was not counted"]) + (try next())
            })
    }

    /// What is wrong with the next authentication, in which nothing fails.
    func next() throws -> [String] {
        let host = try PAMHost.run(service, user.name, answers: [Signet.pin])
        guard host.rounds.last?.code == 0 else { return ["the next authentication: \(host)"] }
        return []
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test where the tracer is not built, or does not know the machine.
    static var traced: Self {
        #if arch(x86_64)
            .enabled(if: access("\(World.tools)/faults", X_OK) == 0, "scripts/build tools has not built the tracer")
        #else
            .disabled("the tracer of faults knows the registers of x86-64 only")
        #endif
    }
}
