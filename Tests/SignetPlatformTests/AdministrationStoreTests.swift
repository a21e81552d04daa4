import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

@testable import SignetPlatform

/// A journal that is not looked at.
private struct NoJournal: Journal, ~Copyable {
    mutating func record(_ event: JournalEvent) {}
}

@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's"))
struct AdministrationStoreTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try makeStore(folder)
    }

    private func ledger(_ name: String, uid: UInt32 = 1000) throws -> MachineLedger<NoJournal> {
        try StoreOpening.ledger(
            root: folder.bytes, uid: uid, userName: Array(name.utf8), caller: .person, configuration: Configuration(),
            log: NoJournal())
    }

    private func status(_ name: String, uid: UInt32 = 1000) throws -> UserStatus {
        var ledger = try ledger(name, uid: uid)
        return ledger.status(
            uid: uid, userName: Array(name.utf8), fingersAllowed: true, readers: .problem(.noReader))
    }

    // Would catch: status that makes folders, a rename that is not seen, an adoption that loses the PIN, a purge that leaves
    // something, all on the real store.
    @Test func `from setting up over a rename to a purge`() throws {
        #expect(try status("alice").record == .notSetUp)
        #expect(try UserStore.users(root: folder.bytes).isEmpty)

        var alice = try ledger("alice")
        let pin = try alice.conceal(secret(Array("490273".utf8)), .pin)
        _ = try alice.makeIdentity(uid: 1000, userName: Array("alice".utf8), pin: pin, byAdministrator: false)
        let set = try status("alice")
        #expect(set.record == .usable && set.attention == [.noRecoveryCode] && set.fingerClosure == .notEnrolled)

        let renamed = try status("alicia")
        #expect(renamed.record == .faulty(.identity, .renamed) && renamed.attention == [.renamed] && renamed.pin == nil)

        var alicia = try ledger("alicia")
        #expect(try alicia.adopt() == .adopted)
        #expect(try alicia.adopt() == .nameFits)
        #expect(try status("alicia").record == .usable)
        let key: SecretBytes?
        let closed = try alicia.charge(.pin)
        #expect(closed == nil)
        key = try alicia.compare(alicia.conceal(secret(Array("490273".utf8)), .pin), .pin)
        let matched = key != nil
        #expect(matched)
        _ = try alicia.settleFailure(.pin)

        try alicia.purge()
        #expect(try UserStore.users(root: folder.bytes).isEmpty)
        #expect(try status("alicia").record == .notSetUp)
    }

    // Would catch: another user's records becoming one's own by adoption.
    @Test func `records of another uid are not adopted`() throws {
        var alice = try ledger("alice")
        let pin = try alice.conceal(secret(Array("490273".utf8)), .pin)
        _ = try alice.makeIdentity(uid: 1000, userName: Array("alice".utf8), pin: pin, byAdministrator: false)
        try FileManager.default.copyItem(atPath: folder.sub("users/1000"), toPath: folder.sub("users/1001"))
        var mallory = try ledger("mallory", uid: 1001)
        #expect(throws: LedgerFailure.recordUnusable) { try mallory.adopt() }
        #expect(try status("mallory", uid: 1001).record == .faulty(.identity, .otherUser))
        try mallory.purge()
        #expect(try UserStore.users(root: folder.bytes) == [1000])
    }
}

struct SyslogJournalTests {
    // Would catch: a decision that reaches nobody, without its context, or too quietly to be found.
    @Test func `an event is one line with its context`() throws {
        let path = "/tmp/signet-journal-test-\(getpid())"
        let receiver = try #require(SystemLogTests.Receiver(path))
        let context = JournalContext(
            service: Array("sudo".utf8), user: Array("alice".utf8), terminal: Array("/dev/pts/3".utf8), remoteHost: [],
            realUID: 1000)
        var journal = SyslogJournal(context, path: Array(path.utf8))
        journal.record(.configurationUnusable(.path(PathProblem(path: Array("/etc".utf8), matter: .wrongKind))))
        let warning = try #require(receiver.next())
        #expect(warning.hasPrefix("<84>pam_signet[\(getpid())]: event=configuration_unusable "))
        #expect(warning.contains("service=sudo user=alice ruid=1000 tty=/dev/pts/3"))
        journal.record(.management(.adopted, byAdministrator: true))
        #expect(receiver.next()?.hasPrefix("<85>") == true)
        #expect(receiver.next() == nil)
    }
}
