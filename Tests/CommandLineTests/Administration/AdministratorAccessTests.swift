import SignetPolicy
import Testing

@testable import SignetEngine
@testable import signet

struct AdministratorAccessTests {
    private typealias Person = AdministratorAccess.Person

    private func access(
        _ people: [Person], guarded: [String] = ["sudo", "sudo-i"], passwordHelps: Bool = false,
        storeIsWhole: Bool = true
    ) -> AdministratorAccess {
        AdministratorAccess(
            people: people, guarded: guarded, passwordHelps: passwordHelps, storeIsWhole: storeIsWhole)
    }

    private static let alice = Person(name: "alice", hasWayIn: false, asked: "sudo")
    private static let root = Person(name: "root", hasWayIn: false, asked: nil)

    // Would catch: a machine that nobody can administer any more, and that is called well; and a remedy that needs the very sudo.
    @Test func `nobody who becomes root is a failure`() {
        let shut = access([Self.alice, Self.root]).lines
        #expect(shut.map(\.level) == [.fail, .warn] && shut[0].text.hasPrefix("nobody becomes root by sudo, sudo-i:"))
        #expect(shut.map(\.remedy) == ["signet pin set --user alice", "signet pin set --user alice"])
        #expect(!shut[0].text.contains("store"))
        let damaged = access([Self.alice, Self.root], storeIsWhole: false).lines
        #expect(damaged[0].text.contains("mend the store as said above"))
        // Where there is nobody but root.
        let alone = access([Person(name: "root", hasWayIn: false, asked: "su")], guarded: ["su", "su-l"]).lines
        #expect(alone.map(\.remedy) == ["signet pin set --user root", "signet pin set --user root"])
    }

    // Would catch: an alarm where somebody still gets in, or where no service that makes root asks Signet.
    @Test func `one who becomes root is enough`() {
        let bob = Person(name: "bob", hasWayIn: true, asked: "sudo")
        let some = access([Self.alice, bob, Self.root]).lines
        #expect(some.map(\.level) == [.warn] && some[0].remedy == "sudo signet pin set --user alice")
        let byPassword = access([Self.alice, Self.root], passwordHelps: true).lines
        #expect(byPassword.map(\.level) == [.warn] && byPassword[0].remedy == "signet pin set --user alice")
        #expect(access([Person(name: "alice", hasWayIn: false, asked: nil), Self.root], guarded: []).lines.isEmpty)
    }

    // Would catch: a PIN that no guarded service asks for, and that is counted as a way in; an alarm that no PIN silences.
    @Test func `a PIN that nothing asks for is no way in`() {
        let root = Person(name: "root", hasWayIn: true, asked: nil)
        #expect(access([Self.alice, root]).lines.map(\.level) == [.fail, .warn])
        let alice = Person(name: "alice", hasWayIn: true, asked: nil)
        let bySu = access([alice, Person(name: "root", hasWayIn: false, asked: "su")], guarded: ["su", "su-l"])
        #expect(bySu.isShut && bySu.lines[0].remedy == "signet pin set --user root")
        let unknown = access([root])
        #expect(!unknown.isShut && unknown.lines.map(\.level) == [.warn])
    }

    // Would catch: a machine with a thousand administrators whose doctor is nothing but their names.
    @Test func `the lines are bounded`() {
        let many = (1...20).map { Person(name: "user\($0)", hasWayIn: false, asked: "sudo") }
        let lines = access(many).lines
        #expect(lines.count == 1 + AdministratorAccess.lineLimit + 1)
        #expect(lines.last?.text == "12 more administrators have no usable PIN")
        #expect(lines.last?.remedy == "getent group sudo wheel admin")
        #expect(access(Array(many.prefix(9))).lines.last?.text == "1 more administrator has no usable PIN")
    }

    // Would catch: a PIN that works no more and is counted as a way in, and a wait or a recovery code that is not.
    @Test func `a way in is a PIN, or a recovery code in its place`() {
        func status(
            _ record: RecordCondition = .usable, pin: Bool = true, _ lockout: PINLockout? = nil,
            _ recovery: RecoveryFact = .none
        ) -> UserStatus {
            var status = UserStatus(
                uid: 1000, userName: Array("alice".utf8), record: record, readers: .problem(.noReader))
            if pin { status.pin = PINFact(changedAt: 0, lastUse: .never, setByAdministrator: false) }
            status.lockout = LockoutFact(
                fingerFailures: 0, fingerLimit: 5, pinFailures: 0, pinLimit: 10, pin: lockout, closedTo: [])
            status.recovery = recovery
            return status
        }
        #expect(
            status().hasWayIn && status(.usable, .waiting(seconds: 60)).hasWayIn && status(.busy, pin: false).hasWayIn)
        #expect(!status(.notSetUp, pin: false).hasWayIn && !status(.faulty(.identity, .damaged), pin: false).hasWayIn)
        #expect(!status(.usable, .disabled).hasWayIn)
        #expect(status(.usable, .disabled, .ready(madeAt: 0, lockout: nil)).hasWayIn)
        #expect(!status(.usable, .disabled, .ready(madeAt: 0, lockout: .disabled)).hasWayIn)
    }

    // Would catch: a locked password that is taken for a way back, and a directory's account that is taken for one without any.
    @Test func `system passwords are told apart`() {
        let file = Array(
            "root:*:1:0:::::\nalice:$y$j9T$x:1::::::\nbob:!$y$x:1::::::\nnone::1::::::\ncut\nlast:$y$x".utf8)
        // Wherever a part of the file ends.
        for cut in 0...file.count {
            var shadow = SystemPasswords()
            let parts = (Array(file[..<cut]), Array(file[cut...]))
            shadow.take(parts.0.span)
            shadow.take(parts.1.span)
            shadow.endLine()
            #expect(shadow.mayServe("alice") && shadow.mayServe("last") && shadow.mayServe("of-a-directory"))
            for name in ["root", "bob", "none"] { #expect(!shadow.mayServe(name), "\(cut)") }
        }
        #expect(!SystemPasswords().mayServe("root"))
        #expect(SystemPasswords.read("/nowhere") == nil && SystemPasswords.read("/dev/zero") == nil)
    }
}
