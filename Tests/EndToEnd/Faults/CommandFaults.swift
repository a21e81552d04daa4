import Glibc
import Testing

/// The PIN that a change of the PIN is about.
enum Changed {
    static let pin = "297548"
}

/// Each call of the command line and of its reader helper fails in turn: what it says is done is done.
@Suite(.serialized, .inWorld, .withProduct, .traced) struct CommandFaults {
    // Would catch a change of the PIN that is told and not made, or that leaves neither PIN working.
    @Test func theChangeOfAPIN() throws {
        try Asked.with { asked in
            let store = try StoreCopy()
            var scenario = command("change of the PIN", ["pin", "change", "--user", asked.user.name])
            scenario.prepare = { try store.restore() }
            scenario.person = FaultPerson.types(Signet.pin, others: [("New PIN", Changed.pin)])
            scenario.after = { outcome in
                let works = try [Signet.pin, Changed.pin].map { pin in
                    try PAMHost.run(asked.service, asked.user.name, answers: [pin]).rounds.last?.code == 0
                }
                if works == [false, true] { return [] }
                if works == [true, false], !outcome.isGranted { return [] }
                return ["old and new PIN work: \(works)"]
            }
            try scenario.sweep()
        }
    }

    // Would catch an enrolment that is told and not there, one that leaves the old finger or the PIN unusable.
    @Test func anEnrolment() throws {
        try Touched.with { touched in
            let alice = touched.person
            let store = try StoreCopy()
            var scenario = command("enrolment", ["enroll", "left-index"], environment: alice.asUser)
            scenario.deadline = 30_000
            scenario.prepare = {
                alice.reader.forget()
                try store.restore()
            }
            scenario.person = FaultPerson.enrols("left", on: alice.reader)
            scenario.after = { outcome in
                let status = try alice.status().fingerprint
                var found = try touched.next()
                if outcome.isGranted, status.fingers.count != 2 { found.append("told, and not there: \(status)") }
                if status.fingers.isEmpty { found.append("the first finger is gone: \(status)") }
                if !status.on, status.reason == nil { found.append("fingers are off without a reason: \(status)") }
                return found
            }
            try scenario.sweep()
        }
    }

    // Would catch a deletion that is told and not made.
    @Test func aDeletion() throws {
        try Touched.with { touched in
            let alice = touched.person
            let store = try StoreCopy()
            var scenario = command("deletion", ["delete", "right-index"], environment: alice.asUser)
            scenario.prepare = {
                alice.reader.forget()
                try store.restore()
            }
            scenario.person = FaultPerson.types(Enrolled.pin)
            scenario.after = { outcome in
                let status = try alice.status().fingerprint
                let isDone = status.fingers.isEmpty
                let found = outcome.isGranted && !isDone ? ["told, and still there: \(status)"] : []
                return try found + touched.next()
            }
            try scenario.sweep()
        }
    }

    // Would catch a reset that is told and not made, or that leaves a record which nobody can read.
    @Test func aReset() throws {
        try Asked.with { asked in
            for number in 1...5 {
                _ = try PAMHost.run(asked.service, asked.user.name, answers: [Signet.wrongPIN(number)])
            }
            let store = try StoreCopy()
            var scenario = command("reset of a lockout", ["lockout", "reset", "--user", asked.user.name])
            scenario.prepare = { try store.restore() }
            scenario.after = { outcome in
                let state = try Signet.lockout(asked.user)
                if state.pinState == "open", state.pinFailures == 0 { return try asked.next() }
                return outcome.isGranted || state.pinFailures != 5 ? ["the lockout is \(state)"] : []
            }
            try scenario.sweep()
        }
    }

    // Would catch a status that says something else because a file could not be read, instead of saying so.
    @Test func theStatus() throws {
        try Touched.with { touched in
            let alice = touched.person
            for number in 1...2 {
                _ = try PAMHost.run(touched.service, alice.user.name, answers: [Signet.wrongPIN(number)])
            }
            // A reason for closed fingers must be given, whatever it is; other than that, nothing may be missing.
            var scenario = command("status", ["status", "--user", alice.user.name, "--json"])
            scenario.after = { outcome in
                let text = outcome.lines.joined()
                // An unread slot may have held a failure: then one more is counted.
                let isCounted = text.contains(/"pin_failures":[23],/)
                let isTrue =
                    isCounted
                    && (text.contains("\"on\":true") && text.contains("right index") || text.contains("\"reason\":\""))
                return isTrue || !outcome.isGranted ? [] : ["the status is not true: \(text)"]
            }
            try scenario.sweep()
        }
    }

    private func command(
        _ name: String, _ arguments: [String], environment: [String: String] = Child.environment
    ) -> FaultScenario {
        FaultScenario(
            name: name, mayGrant: true, command: ["/usr/bin/signet"] + arguments, hasMarks: false,
            environment: environment, journals: false)
    }
}

extension FaultPerson {
    /// Types the PIN, gives the touches that an enrolment asks for, and the one that confirms it.
    static func enrols(_ finger: String, on reader: VirtualReader) -> (Terminal) throws -> Void {
        { terminal in
            let prompts = [
                "PIN: ", "over the reader, again and again.", "Touch once more to confirm.", "Lift your finger",
            ]
            while let prompt = waitForPrompt(terminal, prompts) {
                switch prompt {
                case 0:
                    waitForNoEcho(terminal)
                    try? terminal.type(line: Enrolled.pin)
                case 1:
                    for _ in 1...4 { _ = try? reader.send("SCAN \(finger)", within: 2) }
                    touch(until: "Touch once more to confirm.")
                default: touch(until: "is enrolled")
                }
                /// Somebody whose touch the reader missed touches it again.
                func touch(until sign: String) {
                    for _ in 1...4 {
                        _ = try? reader.send("SCAN \(finger)", within: 2)
                        let end = monotonicMilliseconds() + 1500
                        while !terminal.transcript.contains(sign), !terminal.isOver, monotonicMilliseconds() < end {
                            try? terminal.gather(within: 50)
                        }
                        if terminal.transcript.contains(sign) || terminal.isOver { return }
                    }
                }
            }
        }
    }
}
