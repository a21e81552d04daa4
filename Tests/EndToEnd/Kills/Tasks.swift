/// The tasks that are killed, or whose power is cut, each as a run under the killer.
enum Tasks {
    typealias Run = (Killer) throws -> Killer.Ending

    /// Another PIN that no rule refuses.
    static let newPIN = "904218"
    static let otherFinger = "left-index"
    static let stranger = "someone-else"

    /// An authentication by this PIN.
    static func authentication(_ user: User, _ service: String, _ pin: String) -> Run {
        { try $0.run(PAMHost.command(service, user.name, options: ["--plain"]), input: pin + "\n") }
    }

    static func firstPIN(_ user: User) -> Run {
        { killer in
            try killer.run(
                ["signet", "pin", "set", "--stdin"], environment: Signet.environment(of: user),
                input: Signet.pin + "\n")
        }
    }

    static func pinChange(_ user: User) -> Run {
        { killer in
            try killer.run(
                ["signet", "pin", "change"], environment: Signet.environment(of: user),
                rules: [
                    .typing(Signet.pin, at: "PIN: "), .typing(newPIN, at: "New PIN"), .typing(newPIN, at: "New PIN"),
                ])
        }
    }

    static func administratorsPIN(_ user: User) -> Run {
        { try $0.run(["signet", "pin", "set", "--user", user.name, "--stdin"], input: newPIN + "\n") }
    }

    static func reset(_ user: User) -> Run { { try $0.run(["signet", "lockout", "reset", "--user", user.name]) } }

    static func removal(_ user: User) -> Run {
        { killer in
            try killer.run(
                ["signet", "pin", "remove", "--yes"], environment: Signet.environment(of: user),
                rules: [.typing(Signet.pin, at: "PIN: ")])
        }
    }

    static var migrationToTPM: Run { { try $0.run(["signet", "enclave", "migrate", "--to", "tpm"]) } }

    /// Touches until the service lets in, once for each round; gives up where the finger is not taken.
    static func touch(_ finger: String, _ alice: Enrolled, _ service: String, rounds: Int = 1) -> Run {
        { killer in
            alice.reader.forget()
            let touches = (0..<rounds).map { _ in
                Killer.Rule(text: Offer.touch) { _ in
                    try scan(finger, alice)
                    if rounds > 1 { alice.reader.forget() }
                }
            }
            return try killer.run(
                PAMHost.command(
                    service, alice.user.name, options: ["--plain", "--conversation", "field", "--rounds", "\(rounds)"]),
                rules: touches + [
                    Killer.Rule(text: "ot recognised. Touch again") { try $0.press("c") },
                    Killer.Rule(text: Offer.pin, isSecret: true) { try $0.press("c") },
                ])
        }
    }

    /// Enrols a second finger, with the user's PIN.
    static func enrolment(_ alice: Enrolled) -> Run {
        { killer in
            alice.reader.forget()
            return try killer.run(
                ["signet", "enroll", otherFinger], environment: alice.asUser,
                rules: [
                    .typing(Enrolled.pin, at: "PIN: "),
                    Killer.Rule(text: "over the reader, again and again.") { _ in
                        for _ in 1...5 { try scan(otherFinger, alice) }
                        alice.reader.forget()
                    },
                    Killer.Rule(text: "Touch once more to confirm.") { _ in try scan(otherFinger, alice) },
                    // A reader that cannot identify compares each touch with one print.
                    Killer.Rule(text: "Lift your finger") { _ in try scan(otherFinger, alice) },
                ])
        }
    }

    static func deletion(_ alice: Enrolled) -> Run {
        {
            try $0.run(
                ["signet", "delete", otherFinger], environment: alice.asUser,
                rules: [.typing(Enrolled.pin, at: "PIN: ")])
        }
    }

    private static func scan(_ finger: String, _ alice: Enrolled) throws {
        try alice.reader.send("SCAN \(finger)", within: 2)
    }
}
