import Foundation
import Testing

/// The machine sleeps while sudo waits for a finger.
///
/// What a program sees of a sleep is that CLOCK_BOOTTIME has run on and CLOCK_MONOTONIC has not, and what its reader says
/// then. The clocks are the kernel's: the waiting program is moved into a time namespace whose boot clock stands ahead.
/// That a USB device is suspended meanwhile cannot be shown without one; the ways in which libfprint tells of it can.
@Suite(.serialized, .inWorld, .withProduct) struct SleepTests {
    // Would catch a prompt that ends with the sleep or hangs after it, a try that a sleep costs, and a finger that does not
    // count any more.
    @Test(.clocksCanBeShifted) func afterASleepTheReaderIsOpenedAnew() throws {
        try Enrolled.with { alice in
            let journal = try JournalListener()
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            let helper = try SensorProcess.only()
            // Longer than the reader would have waited for a finger.
            try BootShift.later(seconds: 60).enter(terminal.process)
            try terminal.waitFor("The reader is waking up. Type your PIN, or wait: ")
            try terminal.waitForSecretPrompt(Offer.touch)
            #expect(try SensorProcess.only() != helper)
            try journal.waitFor("event=reader_trouble", "problem=slept")
            #expect(try alice.fingerFailures() == 1, "one try is charged, and not two")
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            try SensorProcess.waitForNone()
        }
    }

    // Would catch a person who waits for a reader that does not come back, or is told that there never was one.
    @Test(.clocksCanBeShifted) func aReaderThatDoesNotComeBackLeavesThePIN() throws {
        try Enrolled.with { alice in
            let journal = try JournalListener()
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            let empty = "#!/bin/sh\nexec \(SensorProcess.program) \"$@\"\n"
            try File.replaced(alice.reader.folder + "/sensor", with: empty, mode: 0o755) {
                try BootShift.later(seconds: 60).enter(terminal.process)
                try terminal.waitFor("The reader was lost while the machine slept. ", within: 10)
                try alice.typePIN(terminal)
            }
            try journal.waitFor("event=finger_closed", "problem=slept")
            #expect(try alice.fingerFailures() == 0)
        }
    }

    // Would catch a prompt of yesterday that is still open when somebody opens the lid, and a try that it cost.
    @Test(.clocksCanBeShifted) func aSleepBeyondThePromptsOwnTimeEndsIt() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try BootShift.later(seconds: 8 * 3600).enter(terminal.process)
            #expect(try terminal.ended(within: 10).isRefused, "\(terminal.transcript)")
            #expect(try alice.fingerFailures() == 0)
            try SensorProcess.waitForNone()
        }
    }

    // Would catch a sleep that gives back a try in which a finger was seen.
    @Test(.clocksCanBeShifted) func aFingerThatLayThereIsCounted() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try alice.reader.lay(finger: true)
            try BootShift.later(seconds: 60).enter(terminal.process)
            try terminal.waitFor("The reader is waking up.")
            try terminal.waitForSecretPrompt(Offer.touch)
            try terminal.press("c")
            #expect(try terminal.ended().isRefused, "\(terminal.transcript)")
            #expect(try alice.fingerFailures() == 1)
        }
    }

    // Would catch a program that is woken again and again and never comes to an end.
    @Test(.clocksCanBeShifted) func onlySoManySleepsAreFollowed() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            for number in 1...4 {
                try BootShift.later(seconds: 60 * number).enter(terminal.process)
                if number < 4 { try terminal.waitForSecretPrompt(Offer.touch) }
            }
            try terminal.waitFor("The reader was lost while the machine slept. ")
            try alice.typePIN(terminal)
        }
    }

    // MARK: Drivers

    // Would catch a driver that ignores the cancel: a person who is told nothing of it, a helper that stays, or a try that
    // costs the person something.
    @Test func aDriverThatIgnoresTheCancelIsGotRidOf() throws {
        try Enrolled.with(lines: ["finger_timeout = 5"]) { alice in
            let journal = try JournalListener()
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try alice.reader.send("SET_CANCELLATION_ENABLED 0")
            try terminal.waitFor("The reader was not touched in time, and did not stop waiting. ", within: 9)
            try SensorProcess.waitForNone(within: 1)
            try journal.waitFor("event=finger_closed", "problem=cancel_ignored")
            try alice.typePIN(terminal)
            #expect(try alice.fingerFailures() == 0)
            #expect(try alice.acceptsFinger())
        }
    }
}

extension BootShift {
    /// Moves a running program into this boot, in the middle of what it does.
    ///
    /// A program of one thread may change its time namespace at any time, and sees the other clock at once (setns(2),
    /// time_namespaces(7)); here a tracer has it do so.
    func enter(_ process: pid_t) throws {
        let keeper = try Child(command(["sh", "-c", "echo $$; exec sleep 60"]), attachment: .pipes)
        guard case .bytes(let line) = try keeper.read(within: 10_000),
            let inside = pid_t(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw HarnessError("there is no other boot clock") }
        defer { kill(inside, SIGKILL) }
        try Command.must("\(World.tools)/clockshift", "\(process)", "\(inside)")
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test where a running program cannot be moved to another clock.
    fileprivate static var clocksCanBeShifted: Self {
        #if arch(x86_64)
            .enabled(if: access("\(World.tools)/clockshift", X_OK) == 0, "scripts/build tools has not built clockshift")
        #else
            .disabled("clockshift knows the registers of x86-64 only")
        #endif
    }
}
