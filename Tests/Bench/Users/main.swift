import Glibc
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets

// bench-users NAME UID FIRST COUNT: gives `bench<FIRST>`, `bench<FIRST + 1>`, … the PIN of the user NAME, by the code
// that writes records.
//
// Their uids are 100000 and their number; the accounts are made by the caller. Deriving a key for each would take a
// quarter of an hour for ten thousand, and neither the length of a record nor the way to it depends on whose key it
// holds.

func fail(_ words: String) -> Never {
    print("bench-users: \(words)")
    exit(1)
}

let words = CommandLine.arguments
guard words.count == 5, let uid = UInt32(words[2]), let first = UInt32(words[3]), let count = UInt32(words[4]) else {
    fail("usage: bench-users NAME UID FIRST COUNT")
}
let root = UserStore.standardRoot
do {
    let keys = try StoreOpening.open(root: root, ConfigurationLoader.load().configuration.enclaveSettings).takeKeys()
    var model = try UserStore(root: root, uid: uid, userName: Array(words[1].utf8), keys: keys)
    guard let identity = try model.loadIdentity() else { fail("\(words[1]) has no PIN") }
    for number in first..<(first + count) {
        let (uid, name) = (100_000 + number, Array("bench\(number)".utf8))
        model.turn(to: uid, userName: name)
        try model.lock()
        // Approvals are signed for one user alone.
        try model.create(
            IdentityRecord(
                uid: uid, userName: name, instance: identity.instance, publicKey: identity.publicKey, pin: identity.pin,
                recovery: identity.recovery, pinChangedAt: identity.pinChangedAt,
                recoveryMadeAt: identity.recoveryMadeAt, pinSetByAdministrator: identity.pinSetByAdministrator,
                approvals: []))
    }
} catch {
    fail("\(error)")
}
