import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// Stories of changed enrollment sets (rule 5).
///
/// Each would catch the change it names, if it went unnoticed, kept the PIN
/// from working, or were forgotten.
enum ChangeStories {
    static let all = behindItsBack + byCommands + onChips + approvals

    /// A change that is noticed before anybody is asked to touch; the PIN lets in, the finger stays closed.
    private static func noticed(
        _ name: String, added: UInt8, removed: UInt8, gone: UInt8 = 0,
        _ change: @escaping @Sendable (Machine) throws -> Void
    ) -> Story {
        Story(
            name: name, prepare: change, answers: [.right], touches: [.matched(index: 0)], outcome: .granted(.pin),
            met: [
                .prompt(.pin(because: .enrollmentChanged(EnrollmentChange(added: added, removed: removed, gone: gone))))
            ],
            after: { machine, actor in
                #expect(actor.sensor.arms == 0)
                #expect(machine.change == EnrollmentChange(added: added, removed: removed))
            })
    }

    static let behindItsBack: [Story] = [
        noticed("added", added: 1, removed: 0) {
            try $0.setUp()
            $0.tamper([.first, .second])
        },
        noticed("removed", added: 0, removed: 1) {
            try $0.setUp(prints: [.first, .second])
            $0.tamper([.first])
        },
        noticed("all removed", added: 0, removed: 2) {
            try $0.setUp(prints: [.first, .second])
            $0.tamper([])
        },
        noticed("prints file deleted", added: 0, removed: 1) {
            try $0.setUp()
            $0.disk.prints = nil
        },
        noticed("replaced", added: 1, removed: 1) {
            try $0.setUp()
            $0.tamper([.second])
        },
        noticed("file rolled back", added: 0, removed: 0) {
            try $0.setUp()
            let old = $0.disk.prints
            try $0.enroll([.first, .second], approve: true)
            try $0.enroll([.first], approve: true)
            $0.disk.prints = old
        },
        noticed("file and approval rolled back", added: 0, removed: 0) {
            try $0.setUp()
            let old = ($0.disk.prints, $0.disk.identity)
            try $0.enroll([.first, .second], approve: true)
            ($0.disk.prints, $0.disk.identity) = old
        },
        noticed("print of one of two readers replaced", added: 1, removed: 1) {
            $0.readers = [.of(.inside), .of(.outside)]
            try $0.setUp(prints: [.first, .elsewhere])
            $0.tamper(generation: 2, [.second, .elsewhere])
        },
        noticed("prints of one of two readers removed", added: 0, removed: 1) {
            $0.readers = [.of(.inside), .of(.outside)]
            try $0.setUp(prints: [.first, .elsewhere])
            $0.tamper(generation: 2, [.elsewhere])
        },
        // A change seen once that is forgotten when the set goes back.
        noticed("gone back", added: 1, removed: 0) {
            try $0.setUp()
            $0.tamper([.first, .second])
            _ = $0.process().authenticate([.cancels])
            $0.tamper([.first])
        },
        // A PIN that re-opens a path that was closed by a change.
        noticed("gone back, after a PIN", added: 1, removed: 0) {
            try $0.setUp()
            $0.tamper([.first, .second])
            _ = $0.process().authenticate([.right])
            $0.tamper([.first])
        },
        // A reset of the counters that forgets a change.
        noticed("gone back, after a reset", added: 1, removed: 0) {
            try $0.setUp()
            $0.tamper([.first, .second])
            _ = $0.process().authenticate([.cancels])
            $0.tamper([.first])
            var ledger = $0.process("reset", isAdministrator: true).ledger()
            try ledger.reset(finger: true, pin: true)
        },
        // A change that activation with the PIN does not end.
        Story(
            name: "activated again",
            prepare: {
                try $0.setUp()
                $0.tamper([.first, .second])
                _ = $0.process().authenticate([.cancels])
                try $0.activate()
            }, answers: [.enter], touches: [.matched(index: 1)], outcome: .granted(.finger),
            met: [.prompt(.pinOrTouch), .notice(.touchTheReader)],
            after: { machine, _ in #expect(machine.change == nil) }),
        // A set that changed while the finger was awaited, matched by what is no longer approved.
        Story(
            name: "changed while waiting", answers: [.enter, .right], touches: [.matched(index: 0)],
            meanwhile: { machine, actor in
                actor.once(at: .awaitTouch) { machine.tamper(generation: 2, [.first, .second]) }
            }, outcome: .granted(.pin),
            met: [
                .prompt(.pinOrTouch), .notice(.touchTheReader),
                .prompt(.pin(because: .enrollmentChanged(EnrollmentChange(added: 0, removed: 0)))),
            ], after: { machine, _ in #expect(machine.change != nil) }),
        Story(
            name: "replaced while waiting", answers: [.enter, .cancels], touches: [.matched(index: 0)],
            meanwhile: { machine, actor in
                actor.once(at: .awaitTouch) { machine.tamper(generation: 1, [.second]) }
            }, outcome: .refused(.cancelled),
            met: [
                .prompt(.pinOrTouch), .notice(.touchTheReader),
                .prompt(.pin(because: .enrollmentChanged(EnrollmentChange(added: 1, removed: 1)))),
            ],
            after: { machine, _ in #expect(machine.change != nil && machine.attempts.finger.count == 1) }),
        // A match by a print that cannot be read any more.
        Story(
            name: "unreadable while waiting", answers: [.enter, .cancels], touches: [.matched(index: 0)],
            meanwhile: { machine, actor in
                actor.once(at: .awaitTouch) { machine.disk.prints?.templates[0] = 0 }
            }, outcome: .refused(.cancelled),
            met: [
                .prompt(.pinOrTouch), .notice(.touchTheReader), .prompt(.pin(because: .printsUnusable)),
            ], after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
    ]

    static let byCommands: [Story] = [
        noticed("enrolled without the PIN", added: 1, removed: 0) {
            try $0.setUp()
            try $0.enroll([.first, .second], approve: false)
        },
        noticed("added and removed without the PIN", added: 0, removed: 0) {
            try $0.setUp()
            try $0.enroll([.first, .second], approve: false)
            try $0.enroll([.first], approve: false)
        },
        // An approved change that closes the path.
        Story(
            name: "enrolled with the PIN",
            prepare: {
                try $0.setUp()
                try $0.enroll([.first, .second], approve: true)
            }, answers: [.enter], touches: [.matched(index: 1)], outcome: .granted(.finger),
            met: [.prompt(.pinOrTouch), .notice(.touchTheReader)]),
        // Fingers that count although the user switched them off.
        Story(
            name: "deactivated",
            prepare: {
                try $0.setUp()
                var ledger = $0.process("deactivate").ledger()
                try ledger.deactivate()
            }, answers: [.right], touches: [.matched(index: 0)], outcome: .granted(.pin),
            met: [.prompt(.pin(because: .notApproved))]),
    ]

    static let onChips: [Story] = [
        // A print deleted from the chip, seen only when the reader is opened.
        Story(
            name: "missing on the chip",
            prepare: {
                $0.readers = [.of(.chip, keepsPrints: true)]
                try $0.setUp(prints: [.onChip])
            }, answers: [.enter, .right], touches: [.matched(index: 0)],
            meanwhile: { $1.sensor.presence = [0: .missing] }, outcome: .granted(.pin),
            met: [
                .prompt(.pinOrTouch),
                .prompt(.pin(because: .enrollmentChanged(EnrollmentChange(added: 0, removed: 1, gone: 1)))),
            ],
            after: { machine, actor in
                #expect(actor.sensor.arms == 0 && machine.change == EnrollmentChange(added: 0, removed: 1))
            }),
        noticed("back on the chip", added: 0, removed: 1, gone: 1) {
            $0.readers = [.of(.chip, keepsPrints: true)]
            try $0.setUp(prints: [.onChip])
            let actor = $0.process()
            actor.sensor.presence = [0: .missing]
            _ = actor.authenticate([.enter, .cancels])
        },
        // A chip that cannot list, taken for one that lost its prints.
        Story(
            name: "chip without a list",
            prepare: {
                $0.readers = [.of(.chip, keepsPrints: true, lists: false)]
                try $0.setUp(prints: [.onChip])
            }, answers: [.enter], touches: [.matched(index: 0)], outcome: .granted(.finger),
            met: [.prompt(.pinOrTouch), .notice(.touchTheReader)]),
    ]

    static let approvals: [Story] = [
        // An approval by another key than the user's.
        noticed("signature of another key", added: 0, removed: 0) {
            try $0.setUp()
            try $0.changeApproval { approval, vault in
                let other = try vault.makeSigningKey()
                return try vault.sign(approval.signature, with: other.secret)
            }
        },
        // An approval of one user that is good for another: the name is part of it.
        noticed("renamed user", added: 0, removed: 0) {
            try $0.setUp()
            $0.disk.identity?.userName = Array("bob".utf8)
        },
        // Approved prints that were edited beside their signature.
        noticed("signature cut off", added: 0, removed: 0) {
            try $0.setUp()
            $0.changeApproval { approval, _ in [] }
        },
    ]
}

extension Machine {
    /// Writes a set as Signet's commands do: with the PIN's approval, or as an administrator without it.
    func enroll(_ prints: [Print], approve: Bool) throws {
        let actor = process("enroll")
        var ledger = actor.ledger()
        let stored = Disk.Prints(generation: (disk.prints?.generation ?? 0) + 1, prints)
        let gallery = prints.indices.filter { prints[$0].reader == .inside }
        let session = ReaderSession(
            reader: .inside, place: .builtIn, gallery: Array(gallery), presence: gallery.map { _ in .host },
            generation: stored.generation)
        if approve {
            let key: SecretBytes? = try prove(&ledger)
            try ledger.savePrints(try stored.set(), approving: session, key: key)
        } else {
            let none: SecretBytes? = nil
            try ledger.savePrints(try stored.set(), approving: nil, key: none)
        }
    }

    /// Activation of the inner reader with the PIN.
    func activate() throws {
        let actor = process("activate")
        var ledger = actor.ledger()
        let key = try prove(&ledger)
        let count = disk.prints?.entries.count ?? 0
        let session = ReaderSession(
            reader: .inside, place: .builtIn, gallery: Array(0..<count),
            presence: Array(repeating: .host, count: count),
            generation: disk.prints?.generation ?? 0)
        _ = try ledger.activate(session, key: key)
    }

    /// The signing key, by a charged, right PIN.
    private func prove(
        _ ledger: inout UserLedger<FakeStore, FakeVault, ManualClock, MemoryJournal>
    ) throws -> SecretBytes {
        let typed = try ledger.conceal(secret(Machine.pin), .pin)
        _ = try ledger.charge(.pin)
        guard let key = try ledger.compare(typed, .pin) else { throw FakeFailure() }
        try ledger.settleSuccess(.pin, key: key, secret: typed)
        return key
    }

    /// Puts another signature into the first approval.
    func changeApproval(_ change: (Approval, FakeVault) throws -> [UInt8]) rethrows {
        guard let approval = disk.identity?.approvals.first else { return }
        let signature = try change(approval, process("forger").vault)
        disk.identity?.approvals[0] = Approval(
            reader: approval.reader, place: approval.place, generation: approval.generation, prints: approval.prints,
            signature: signature, madeAt: approval.madeAt)
    }
}
