import Glibc
import Testing

/// Each call of the shipped module and of its reader helper fails in turn while a finger is asked for.
@Suite(.serialized, .inWorld, .withProduct, .traced) struct FingerFaults {
    // Would catch a failed call in the module, in the start of the helper or in the helper that shuts out without a word,
    // hangs, or leaves a helper behind.
    @Test func aRightFinger() throws {
        try Touched.with { try $0.scenario("right finger", mayGrant: true, finger: Enrolled.finger).sweep() }
    }

    // Would catch a failed call that makes a match of another finger.
    @Test func aWrongFinger() throws {
        try Touched.with { try $0.scenario("wrong finger", mayGrant: false, finger: "somebody").sweep() }
    }

    // Would catch a failed call after which the right finger counts though the configuration forbids fingers.
    @Test func aFingerThatIsSwitchedOff() throws {
        try Touched.with { touched in
            let text = try File.read(Touched.configuration) + "finger = no\n"
            try File.replaced(Touched.configuration, with: text) {
                var scenario = touched.scenario(
                    "right finger, switched off", mayGrant: false, finger: Enrolled.finger)
                scenario.after = { _ in try touched.next() }
                try scenario.sweep()
            }
        }
    }

    // Would catch a failed call after which a changed set of prints counts.
    @Test func aFingerOfAChangedSet() throws {
        try Touched.with { touched in
            let alice = touched.person
            let old = alice.reader.folder + "/old"
            try Command.must("cp", "-p", alice.printsFile, old)
            try alice.enroll("left", as: "left-index")
            try Command.must("cp", "-p", old, alice.printsFile)
            var scenario = touched.scenario("right finger, changed set", mayGrant: false, finger: Enrolled.finger)
            scenario.after = { _ in
                let status = try alice.status().fingerprint
                let isClosed = !status.on && status.reason == "enrollment_changed"
                return (isClosed ? [] : ["the changed set counts: \(status)"]) + (try touched.next())
            }
            try scenario.sweep()
        }
    }

    // Would catch a failed call after which a finger counts before the first PIN since the machine started.
    @Test func aFingerAtTheFirstUse() throws {
        try Touched.with { touched in
            var scenario = touched.scenario("right finger, first use", mayGrant: false, finger: Enrolled.finger)
            // A boot that nobody has authenticated in, each time.
            scenario.boot = try BootShift.reboot()
            let store = try StoreCopy()
            scenario.prepare = {
                touched.person.reader.forget()
                try store.restore()
            }
            scenario.after = { _ in try touched.next() }
            try scenario.sweep()
        }
    }

    // Would catch a failed call that ends the lockout of fingers.
    @Test func aFingerWhileFingersAreLockedOut() throws {
        try Touched.with { touched in
            let alice = touched.person
            let text = try File.read(Touched.configuration) + "finger_limit = 1\n"
            try File.replaced(Touched.configuration, with: text) {
                let terminal = try alice.sudo()
                try alice.arm(terminal)
                try alice.reader.scan("somebody")
                try terminal.waitForSecretPrompt("on again: ")
                try terminal.press("d")
                _ = try terminal.finish()
                try #require(try alice.status().lockout.fingerLockedOut)
                let store = try StoreCopy()
                var scenario = touched.scenario("right finger, locked out", mayGrant: false, finger: Enrolled.finger)
                scenario.prepare = {
                    alice.reader.forget()
                    try store.restore()
                }
                scenario.after = { _ in
                    let isLocked = try alice.status().lockout.fingerLockedOut
                    return (isLocked ? [] : ["fingers are no longer locked out"]) + (try touched.next())
                }
                try scenario.sweep()
            }
        }
    }
}

/// Somebody with a PIN and a finger, and the program that asks for them.
struct Touched {
    static let configuration = "/etc/security/signet.conf"

    let service: String
    let person: Enrolled

    /// With short waits, for some faults make each of them pass.
    static func with(body: (Touched) throws -> Void) throws {
        try Enrolled.with(lines: ["finger_timeout = 5", "reader_timeout = 2"]) { alice in
            try Asked.stack { try body(Touched(service: $0, person: alice)) }
        }
    }

    func scenario(_ name: String, mayGrant: Bool, finger: String) -> FaultScenario {
        FaultScenario(
            name: name, mayGrant: mayGrant,
            command: PAMHost.command(service, person.user.name, options: ["--conversation", "field"]),
            prepare: { person.reader.forget() },
            person: FaultPerson.touches(finger, on: person.reader),
            after: { _ in
                let complaints = try next()
                let status = try person.status().fingerprint
                return complaints + (status.on ? [] : ["fingers are off afterwards: \(status)"])
            })
    }

    /// What is wrong with the next authentication, in which nothing fails, and with what is left of the helpers.
    func next() throws -> [String] {
        let helpers = SensorProcess.all()
        let found = helpers.isEmpty ? [] : ["helpers still run: \(helpers)"]
        return try found + Asked(service: service, user: person.user).next()
    }
}
