import Foundation
import SignetPolicy
import SignetRecords
import Testing

/// What a person at a real sudo reads of each problem that a reader can have, and what the journal says of it.
///
/// The helper is a shell script that says the problem's number in the real message; those that a virtual or recorded
/// reader can be brought to have tests of their own as well: FingerTests, SleepTests, HelperTests here, LifeTests and
/// ProblemTests of the reader's client.
@Suite(.serialized, .inWorld, .withProduct) struct ReaderProblemTests {
    struct Told: Sendable {
        let problem: ReaderProblem
        let journal: String
        let sentence: String
    }

    /// The one table, written down a second time.
    static let table: [Told] = [
        (.noReader, "no_reader", "No reader was found."),
        (.busy, "busy", "The reader is in use by another program."),
        (.removed, "removed", "The reader was unplugged."),
        (.tooHot, "too_hot", "The reader is too hot and needs a few minutes."),
        (.notPermitted, "not_permitted", "The reader may not be used."),
        (.timedOut, "timed_out", "The reader did not answer."),
        (.faulty, "faulty", "The reader reported a fault."),
        (.helperFailed, "helper_failed", "The program that drives the reader failed."),
        (.storageFull, "storage_full", "The reader's memory is full."),
        (.duplicate, "duplicate", "The reader knows this finger already."),
        (.unsupported, "unsupported", "The reader cannot do this."),
        (.printNotFound, "print_not_found", "The reader no longer has this fingerprint."),
        (.virtualRefused, "virtual_refused", "Only a virtual reader was found, and those are refused."),
        (.slept, "slept", "The reader was lost while the machine slept."),
        (.stalled, "stalled", "The reader stopped answering."),
        (.cancelIgnored, "cancel_ignored", "The reader was not touched in time, and did not stop waiting."),
        (.ghost, "ghost", "The reader is listed and no longer there. Plug it in again."),
    ].map { Told(problem: $0, journal: $1, sentence: $2) }

    // Would catch a problem without words of its own, or with another one's.
    @Test func eachHasItsOwn() {
        let all = (0...UInt8.max).compactMap { ReaderProblem(rawValue: $0) }
        #expect(all == Self.table.map(\.problem))
        #expect(Set(Self.table.map(\.sentence)).count == all.count)
        #expect(Set(Self.table.map(\.journal)).count == all.count)
    }

    /// A helper with the virtual reader, which does not open.
    private func helper(_ problem: ReaderProblem) throws -> String {
        func lines(_ events: [SensorEvent]) throws -> String {
            try events.map { event in
                var memory = [UInt8](repeating: 0, count: 512)
                var span = memory.mutableSpan
                let length = try event.encode(into: &span)
                return "printf '"
                    + memory[..<length].map { byte in
                        let digits = String(byte, radix: 8)
                        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
                    }.joined() + "' >&3"
            }.joined(separator: "; ")
        }
        let reader = ReaderDescription(
            identity: ReaderIdentity(driver: Array("virtual_device".utf8), device: Array("0".utf8)), place: .virtual,
            name: Array("stand-in".utf8), stages: 5, swipes: false, identifies: false, storesPrints: false,
            listsPrints: false)
        // The second byte of a request is its kind: 1 asks for the list, 4 to open.
        return """
            #!/bin/sh
            while set -- $(dd bs=65536 count=1 <&3 2> /dev/null | od -An -tu1 -N2) && [ $# = 2 ]; do
            case $2 in
            1) \(try lines([.reader(reader), .listed(count: 1, virtualRefused: false)])) ;;
            4) \(try lines([.failed(problem)])) ;;
            esac
            done

            """
    }

    // Would catch a problem that is told as another one, or as nothing, at the prompt or in the journal; that costs a
    // try; or that takes the PIN with it.
    @Test func eachReachesThePersonAndTheJournal() throws {
        try Enrolled.with { alice in
            for told in Self.table {
                let script = try helper(told.problem)
                try File.replaced(alice.reader.folder + "/sensor", with: script, mode: 0o755) {
                    let journal = try JournalListener()
                    let terminal = try alice.sudo()
                    try terminal.waitForSecretPrompt(Offer.begun)
                    try terminal.waitFor("\(told.sentence) ")
                    try alice.typePIN(terminal)
                    // A machine without its reader would fill the journal: that is told with `debug` only.
                    let line = told.problem == .noReader ? "event=authentication" : "event=finger_closed"
                    let word = told.problem == .noReader ? "factor=pin" : "problem=\(told.journal) "
                    try journal.waitFor(line, word)
                }
            }
            #expect(try alice.fingerFailures() == 0)
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch a try with the finger alone that calls the person unknown, where it was the reader; or other words than sudo's.
    @Test func eachReachesWhoTriesAFinger() throws {
        try Enrolled.with { alice in
            for told in Self.table {
                let script = try helper(told.problem)
                try File.replaced(alice.reader.folder + "/sensor", with: script, mode: 0o755) {
                    let terminal = try alice.signetOnTerminal("verify", "--finger")
                    try terminal.waitFor("\(told.sentence)\r\nNo finger was compared.")
                    #expect(try terminal.finish() == (told.problem == .busy ? 7 : 5), "\(terminal.transcript)")
                }
            }
            #expect(try alice.fingerFailures() == 0)
        }
    }
}
