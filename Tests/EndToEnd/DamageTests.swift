import Foundation
import Glibc
import Proof
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// What the shipped programs say of a damaged store, and each of its bytes before the shipped module.
///
/// The rules are proved on the code of the store (`Damage` in SignetPlatformTests); `PINRecordTests` has what a person
/// and the journal are told at a prompt.
@Suite(.serialized, .inWorld, .withProduct) struct DamageTests {
    /// What is done to the store `$S` of the user `$U`, whose copy of some time ago is `$A`, where `$O` is another user's folder.
    private struct Damage {
        let script: String
        /// Its name in JSON, and what doctor says in its line about the user or the store.
        let record: String
        let words: String
    }

    private static let damages: [Damage] = [
        Damage(script: "flip $U/identity 12", record: "damaged", words: "the record \"identity\" is damaged"),
        Damage(script: "flip $U/identity 30", record: "damaged", words: "the record \"identity\" is damaged"),
        Damage(script: "cp $A/identity $U/identity", record: "rolled_back", words: "older than what was written last"),
        Damage(script: "cp $A/attempts $U/attempts", record: "rolled_back", words: "older than what was written last"),
        Damage(script: "cp $O/identity $U/identity", record: "other_user", words: "is another user's"),
        Damage(script: "cp $U/prints $U/identity", record: "damaged", words: "the record \"identity\" is damaged"),
        Damage(script: "rm $U/attempts", record: "missing", words: "the record \"counters\" is missing"),
        Damage(script: "cp $O/attempts $U/attempts", record: "other_user", words: "is another user's"),
        Damage(script: "truncate -s +1 $U/attempts", record: "damaged", words: "the record \"counters\" is damaged"),
        Damage(
            script: "rm $U/identity; mkdir -m 700 $U/identity", record: "unsafe",
            words: "identity is a folder, and must be a file"),
        Damage(
            script: "rm $U/lock; mkdir -m 700 $U/lock", record: "unsafe", words: "lock is a folder, and must be a file"),
        Damage(script: "chmod 644 $U/attempts", record: "unsafe", words: "others than root may open"),
        Damage(
            script: "cp $O/prints $U/prints", record: "other_user", words: "the record \"prints\" is another user's"),
        Damage(script: "truncate -s 40 $U/prints", record: "damaged", words: "the record \"prints\" is damaged"),
        Damage(script: "flip $S/values 90", record: "damaged", words: "the store's own secrets are damaged"),
        Damage(script: "flip $S/values 12", record: "damaged", words: "the store's own secrets are damaged"),
        Damage(script: "rm $S/values", record: "missing", words: "the store's own secrets are missing"),
        Damage(script: "flip $S/key 3", record: "foreign", words: "from another machine, or made under another key"),
        Damage(script: "truncate -s +1 $S/key", record: "damaged", words: "the master key is damaged"),
        Damage(script: "rm $S/key", record: "key_lost", words: "the master key is missing"),
        Damage(script: "chmod 444 $S/key", record: "unsafe", words: "others than root can read it"),
        Damage(script: "chmod 755 $S/users", record: "unsafe", words: "the users' folder cannot be read"),
    ]

    // Would catch damage that status or doctor calls something else, or passes over, and so sends an administrator the wrong way.
    @Test func statusAndDoctorNameEachDamage() throws {
        let began = Proof.now()
        let (user, other) = (try Signet.user(), try Signet.user())
        let aside = try World.scratchFolder()
        try Command.must("cp", "-a", Signet.folder(user), "\(aside)/older")
        try Self.moveOn(of: user, other)
        try Command.must("cp", "-a", Signet.store, "\(aside)/whole")
        defer { try? Self.restore("\(aside)/whole") }
        let chosen = Proof.sample(of: Self.damages.count, few: 9).map { Self.damages[$0] }
        var failed = 0
        for damage in chosen {
            try Self.restore("\(aside)/whole")
            try Command.must("sh", "-euc", Self.prologue(user, other, older: "\(aside)/older") + damage.script)
            let status = try Command.run(["signet", "status", "--user", user.name, "--json"])
            let doctor = try Command.run(["signet", "doctor"])
            let isNamed =
                status.output.contains("\"record\":\"\(damage.record)\"") && status.code != 0
                && doctor.output.replacing(/\s+/, with: " ").contains(damage.words) && doctor.code != 0
            if !isNamed { failed += 1 }
            #expect(
                isNamed,
                "\(damage.script): \(status.code) \(status.output)\(status.error)\(doctor.code) \(doctor.output)")
        }
        Proof.report(
            "damage: named by signet status and signet doctor", cases: chosen.count, failed: failed,
            seconds: Proof.now() - began)
    }

    // Would catch a byte of a file with which the shipped module, which is another build than the tests' own code, traps or lets
    // somebody in.
    @Test(arguments: ["key", "values", "users/ID/identity", "users/ID/attempts"])
    func theModuleRefusesEachByte(_ file: String) throws {
        let began = Proof.now()
        let user = try Signet.user()
        let path = "\(Signet.store)/\(file.replacing("ID", with: "\(user.uid)"))"
        let valid = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        defer { try? Self.overwrite(path, valid) }
        var tally = (cases: 0, failed: 0)
        func check(_ bytes: [UInt8], _ what: String) throws {
            try Self.overwrite(path, bytes)
            // Without an answer, so that a prompt ends it: what is asked here is whether it gets as far.
            let host = try PAMHost.run("signet-test", user.name, within: 20)
            let isRefused = host.rounds.allSatisfy { $0.code != 0 && $0.left.isEmpty }
            tally.cases += 1
            if !isRefused { tally.failed += 1 }
            #expect(isRefused, "\(file) \(what): \(host.rounds) \(host.messages)")
            // A slot of the counters has a twin; all else ends before anybody is asked.
            if !file.hasSuffix("attempts") { #expect(!host.messages.contains { $0.hasPrefix("prompt") }, "\(what)") }
        }
        try Signet.alone { _ in
            for index in Proof.sample(of: valid.count, few: 16) {
                var changed = valid
                changed[index] ^= 0xFF
                try check(changed, "byte \(index)")
            }
            for count in Proof.sample(of: valid.count, few: 8) { try check(Array(valid[..<count]), "length \(count)") }
            try check(valid + [0], "a byte more")
            try Self.overwrite(path, valid)
            #expect(try PAMHost.run("signet-test", user.name, answers: [Signet.pin]).rounds.map(\.code) == [0])
        }
        let name = file.split(separator: "/").last ?? ""
        Proof.report(
            "damage: the shipped module over each byte and length of \(name)", cases: tally.cases, failed: tally.failed,
            seconds: Proof.now() - began)
    }

    /// Gives each user a later identity, and a sealed, empty set of prints, as a deleted finger leaves it.
    private static func moveOn(of users: User...) throws {
        for user in users {
            let root = UserStore.standardRoot
            let keys = try StoreOpening.open(root: root, EnclaveSettings(preference: .file)).takeKeys()
            var store = try UserStore(root: root, uid: user.uid, userName: Array(user.name.utf8), keys: keys)
            guard let nothing = SecretBytes(count: 0),
                let empty = EnrollmentSet(generation: 0, entries: [], templates: nothing)
            else { throw HarnessError("no memory for a set of prints") }
            try store.lock()
            guard var identity = try store.loadIdentity() else { throw HarnessError("there is no identity") }
            identity.pinChangedAt += 1
            try store.save(identity)
            try store.save(empty)
            store.unlock()
        }
    }

    private static func overwrite(_ path: String, _ bytes: [UInt8]) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    private static func prologue(_ user: User, _ other: User, older: String) -> String {
        // `flip FILE OFFSET` changes one bit.
        """
        S=\(Signet.store) U=\(Signet.folder(user)) O=\(Signet.folder(other)) A=\(older)
        flip() {
            byte=$(od -An -tu1 -j "$2" -N 1 "$1")
            printf "\\\\$(printf %o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
        }

        """
    }

    private static func restore(_ store: String) throws {
        try Command.must("sh", "-euc", "rm -rf \(Signet.store); cp -a \(store) \(Signet.store)")
    }
}
