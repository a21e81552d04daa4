import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

/// Every story under every fault: whatever fails, and wherever a process ends, the rules hold.
@Suite struct FaultTests {
    static let stories = PINStories.all + FingerStories.all + FieldStories.all + ChangeStories.all + RecoveryStories.all
    /// Each with a file, and with a TPM; those of a TPM bring their own.
    static let cases: [(story: Story, kind: EnclaveKind)] =
        stories.map { ($0, .file) } + stories.map { ($0, .tpm) } + EnclaveStories.all.map { ($0, .file) }

    /// The ways in which a port can fail.
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        var store = StoreError.system(errno: 28)
        var vault = VaultError.outOfMemory
        var reader = ReaderProblem.helperFailed
        var conversation = ConversationError.cancelled
        var writesBeforeFailing = false
        /// The other faults are met in stories of a TPM as in those of a file.
        var concernsTPM: Bool { if case .enclave = vault { true } else { false } }
        var testDescription: String { name }
    }

    static let faults = [
        Fault(name: "full disk, short memory, dead helper, Ctrl-C"),
        Fault(
            name: "failed after it was done", store: .system(errno: 5), conversation: .timedOut,
            writesBeforeFailing: true),
        Fault(name: "busy store, busy reader", store: .busy, reader: .busy, conversation: .unusable),
        Fault(name: "damaged identity", store: .fault(.identity, .damaged), vault: .keyLost, reader: .removed),
        Fault(name: "damaged prints", store: .fault(.prints, .damaged), reader: .virtualRefused),
        Fault(
            name: "missing counters, stalled TPM", store: .fault(.attempts, .missing), vault: .enclave(.stalled),
            reader: .timedOut),
        Fault(
            name: "older records, a TPM that fails after it was done", store: .fault(.identity, .rolledBack),
            vault: .enclave(.helperFailed), writesBeforeFailing: true),
    ]

    /// Catches a fault that lets somebody in, a counter that falls for it, a comparison that is not charged, a lock or a
    /// reader left behind, and signals that stay blocked.
    @Test(arguments: faults) func everyFaultAtEveryCall(_ fault: Fault) throws {
        var runs = 0
        for (story, kind) in Self.cases where kind == .file || fault.concernsTPM {
            let prepared = try story.prepared(kind)
            let calls = callCount(story, prepared)
            for call in 1...calls {
                let machine = prepared.copy()
                let actor = story.begin(machine)
                actor.process.failAt = call
                actor.process.storeError = fault.store
                actor.process.vaultError = fault.vault
                actor.process.readerProblem = fault.reader
                actor.process.conversationError = fault.conversation
                actor.process.writesBeforeFailing = fault.writesBeforeFailing
                let outcome = story.run(actor)
                let wrongs = Story.wrongs(machine, actor, outcome)
                if !wrongs.isEmpty { record(story, actor, call, wrongs) }
                if actor.process.calls.last != .stopListening {
                    record(story, actor, call, ["signals acted too early"])
                }
                runs += 1
            }
        }
        #expect(runs > 1500, "the faults were really tried")
    }

    /// Catches faults that come in pairs: what is done about the first one fails too.
    @Test func twoFaultsAtOnce() throws {
        var runs = 0
        for (story, kind) in Self.cases where !story.touches.isEmpty || story.answers.contains(.right) {
            let prepared = try story.prepared(kind)
            let calls = callCount(story, prepared)
            for call in 1...calls {
                for kind in [PortCall.saveAttempts, .lock, .loadAttempts, .now] {
                    let machine = prepared.copy()
                    let actor = story.begin(machine)
                    actor.process.failAt = call
                    // From the first fault on, each call of this kind fails.
                    let before = actor.process.onCall
                    actor.process.onCall = { [unowned process = actor.process] made in
                        before?(made)
                        if process.calls.count == call { process.faults.append((kind, nil)) }
                    }
                    let outcome = story.run(actor)
                    let wrongs = Story.wrongs(machine, actor, outcome)
                    if !wrongs.isEmpty { record(story, actor, call, wrongs) }
                    runs += 1
                }
            }
        }
        #expect(runs > 3000, "the faults were really tried")
    }

    /// Catches a free guess by killing the process at the right moment (SIGKILL, a power cut), and a record that a kill
    /// leaves unusable.
    @Test func killedAtEveryCall() throws {
        var runs = 0
        for (story, kind) in Self.cases {
            let prepared = try story.prepared(kind)
            let calls = callCount(story, prepared)
            for call in 1...calls {
                let machine = prepared.copy()
                let actor = story.begin(machine)
                actor.process.killAt = call
                let outcome = story.run(actor)
                var wrongs = machine.disk.violations
                if !machine.disk.isCounted { wrongs.append("fewer failures than comparisons") }
                if machine.disk.holder === actor.process { wrongs.append("the lock is held") }
                if case .granted(let factor) = outcome, !actor.process.evidence.contains(.settled(factor)) {
                    wrongs.append("granted unsettled")
                }
                // Whoever comes next finds whole records: right, wrong or locked out, but nothing to repair.
                if story.exists, story.outcome != .refused(.recordUnusable) {
                    let next = Outcome(machine.process("next").authenticate([.types(Machine.pin)]))
                    if next == .refused(.recordUnusable) { wrongs.append("left unusable records") }
                    if !machine.disk.isCounted { wrongs.append("fewer failures than comparisons, later") }
                }
                if !wrongs.isEmpty { record(story, actor, call, wrongs) }
                runs += 1
            }
        }
        #expect(runs > 1500, "the kills were really tried")
    }

    private func callCount(_ story: Story, _ prepared: Machine) -> Int {
        let actor = story.begin(prepared.copy())
        _ = story.run(actor)
        return actor.process.calls.count
    }

    private func record(_ story: Story, _ actor: Actor, _ call: Int, _ wrongs: [String]) {
        let made = call <= actor.process.calls.count ? "\(actor.process.calls[call - 1])" : "?"
        Issue.record("\(story.name), call \(call) (\(made)): \(wrongs)")
    }
}
