import Glibc
import SignetEngine
import Testing

/// The same where a TPM has a part in it: a migration, and a PIN whose half the TPM keeps.
@Suite(.serialized, .inWorld, .withProduct, .withTPM) struct KilledEnclaveTests {
    // Would catch a store that no longer opens because its migration was killed, and one that cannot go on.
    @Test func aMigrationToTheTPM() throws {
        try MachineTPM.machine("enclave = file") { (tpm) throws in
            let user = try Signet.user()
            try Signet.alone { (service) throws in
                _ = try PAMHost.run(service, user.name, answers: [Signet.wrongPIN(0)])
                try tpm.keep()
                try Sweep(
                    what: "a migration from the file to the TPM", few: 3, prepare: { try tpm.restore() },
                    run: Tasks.migrationToTPM, isWhole: { $0.code == 0 },
                    judge: { ending in
                        let facts = RecordFacts(of: user)
                        return faults(facts) + (facts.pinFailures == 1 ? [] : ["\(facts.pinFailures) failures"])
                    },
                    goOn: {
                        // Killed before its last step it leaves the old key, which an administrator has to hear of.
                        let isLeft = ["/key", "/key.tpm"].allSatisfy { access(Signet.store + $0, F_OK) == 0 }
                        let wrong = try nextAuthentication(
                            user, service, Signet.pin, remedy: isLeft ? "enclave migrate --to tpm" : nil)
                        let again = try Command.run(["signet", "enclave", "migrate", "--to", "tpm"])
                        let isThere =
                            access(Signet.store + "/key", F_OK) != 0 && access(Signet.store + "/key.tpm", F_OK) == 0
                        return try wrong + (again.code == 0 && isThere ? [] : ["it does not go on: \(again)"])
                            + nextAuthentication(user, service, Signet.pin)
                    })()
            }
        }
    }

    // Would catch a guess that the counters of the store or of the TPM miss, and a dead TPM helper that lets somebody in.
    @Test(.onlyWhole, arguments: [false, true]) func aWrongPIN(_ helper: Bool) throws {
        try bound { (tpm, user, service) throws in
            try Sweep(
                what: helper ? "a wrong PIN's TPM helper" : "a wrong PIN with a TPM", few: 3, helper: helper,
                prepare: { try tpm.restore() },
                run: Tasks.authentication(user, service, Signet.wrongPIN(1)),
                isWhole: { $0.code == 1 && $0.compared },
                judge: { ending in
                    let facts = RecordFacts(of: user)
                    var wrong = faults(facts)
                    if !(1...2).contains(facts.pinFailures) { wrong.append("\(facts.pinFailures) failures") }
                    let answered = ending.shown.contains("code 7") || (ending.compared && !helper)
                    if answered, facts.pinFailures != 2 { wrong.append("a comparison was not counted") }
                    if ending.shown.contains("code 0") { wrong.append("it was let in") }
                    return wrong
                },
                goOn: { try nextAuthentication(user, service, Signet.pin) })()
        }
    }

    // Would catch a right PIN after which the counters of store and TPM are apart for good.
    @Test(.onlyWhole) func aRightPIN() throws {
        try bound { (tpm, user, service) throws in
            try Sweep(
                what: "a right PIN with a TPM", few: 3, prepare: { try tpm.restore() },
                run: Tasks.authentication(user, service, Signet.pin),
                isWhole: { $0.code == 0 },
                judge: { ending in
                    let facts = RecordFacts(of: user)
                    var wrong = faults(facts)
                    let allowed = ending.shown.contains("code 0") ? 0...0 : ending.compared ? 0...2 : 1...2
                    if !allowed.contains(facts.pinFailures) { wrong.append("\(facts.pinFailures) failures") }
                    return wrong
                },
                goOn: { try nextAuthentication(user, service, Signet.pin) })()
        }
    }

    /// A user of a store that is bound to the TPM, whose one wrong PIN is counted.
    private func bound(_ body: (MachineTPM, User, String) throws -> Void) throws {
        try MachineTPM.bound { (tpm, user) throws in
            try Signet.alone { (service) throws in
                _ = try PAMHost.run(service, user.name, answers: [Signet.pin])
                _ = try PAMHost.run(service, user.name, answers: [Signet.wrongPIN(0)])
                try tpm.keep()
                try body(tpm, user, service)
            }
        }
    }
}

extension MachineTPM {
    /// Keeps its state of now for `restore`.
    func keep() throws {
        try stop()
        try Command.must("sh", "-euc", "cd \(folder); rm -rf kept; cp -a state kept")
        try start()
    }

    /// Gives it the state that was kept: a TPM that went on while the store was put back would find that out.
    func restore() throws {
        try stop()
        try Command.must("sh", "-euc", "cd \(folder); rm -rf state; cp -a kept state")
        try start()
    }
}
