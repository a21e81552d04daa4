import Foundation
import SignetPlatform
import SignetPolicy
import Testing

@Suite struct CallerFactsTests {
    /// A machine made of files: a folder that stands before /proc and /run.
    final class Machine {
        let root: String

        init() { root = NSTemporaryDirectory() + "signet-facts-\(UUID().uuidString)" }
        deinit { try? FileManager.default.removeItem(atPath: root) }

        func put(_ path: String, _ text: String) throws {
            let file = URL(fileURLWithPath: root + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }

        func facts(host: String? = nil, service: String = "sudo", uid: UInt32 = 1000) -> CallerFacts {
            CallerFacts.read(
                remoteHost: host.map { Array($0.utf8) }, service: Array(service.utf8), realUID: uid,
                root: Array(root.utf8))
        }
    }

    /// Catches a caller who is taken for remote, or whose lid is taken for closed, on a machine that tells nothing.
    @Test func nothingTold() {
        let facts = Machine().facts()
        let nothing = CallerFacts(
            realUID: 1000, isRemote: false, isAtAnotherSeat: false, lidClosed: false, isBackground: false)
        #expect(facts == nothing)
    }

    /// Catches a PAM_RHOST that is passed over, and the local names that programs put there.
    @Test(
        arguments: [
            (nil, false), ("", false), ("localhost", false), ("127.0.0.1", false), ("::1", false), ("10.0.0.1", true),
            ("localhost.example.org", true), ("127.0.0.11", true), ("laptop", true), (" ", true),
        ] as [(String?, Bool)]) func remoteHost(host: String?, isRemote: Bool)
    {
        #expect(Machine().facts(host: host).isRemote == isRemote)
    }

    /// Catches a hint that is found only at the beginning, or in the middle of another variable.
    @Test(arguments: [
        ("HOME=/root\0SSH_CONNECTION=1 2 3 4\0", true), ("SSH_CLIENT=x\0", true), ("A=1\0SSH_TTY=/dev/pts/0", true),
        ("HOME=/SSH_TTY=1\0", false), ("XSSH_TTY=1\0", false), ("SSH_AUTH_SOCK=/x\0", false), ("", false),
    ]) func environment(text: String, isRemote: Bool) throws {
        let machine = Machine()
        try machine.put("/proc/self/environ", text)
        #expect(machine.facts().isRemote == isRemote)
    }

    /// Catches a command under sudo that is taken for local, since sudo gave it another environment; and a hint that is
    /// taken from whatever else started it.
    @Test(arguments: [("sudo\n", true), ("sudoedit\n", false), ("bash\n", false), ("", false)])
    func environmentOfSudo(program: String, isRemote: Bool) throws {
        let machine = Machine()
        try machine.put("/proc/self/environ", "HOME=/root\0")
        try machine.put("/proc/self/status", "Name:\tsignet\nPid:\t78\nPPid:\t77\nTracerPid:\t0\n")
        try machine.put("/proc/77/comm", program)
        try machine.put("/proc/77/environ", "SSH_TTY=/dev/pts/0\0")
        let root = Array(machine.root.utf8)
        func facts(behindSudo: Bool) -> CallerFacts {
            CallerFacts.read(remoteHost: nil, service: [], realUID: 1000, root: root, behindSudo: behindSudo)
        }
        #expect(facts(behindSudo: true).isRemote == isRemote)
        #expect(facts(behindSudo: true).placeClosure == (isRemote ? .remote : nil))
        #expect(!facts(behindSudo: false).isRemote)
    }

    /// Catches an environment blown up until what it says is no longer read.
    @Test func hugeEnvironment() throws {
        let machine = Machine()
        try machine.put("/proc/self/environ", String(repeating: "A", count: 1 << 20) + "\0SSH_TTY=x\0")
        #expect(machine.facts().isRemote)
    }

    struct Session: Sendable {
        let cgroup: String
        let sessions: [String: String]
        var user: String?
        var uid: UInt32 = 1000
        let isRemote: Bool
    }

    struct Seat: Sendable {
        var cgroup = "0::/user.slice/user-1000.slice/session-3.scope\n"
        let sessions: [String: String]
        var user: String?
        var uid: UInt32 = 1000
        let isElsewhere: Bool
    }

    /// Catches a finger on the first seat's reader that counts for somebody at the second one, or in a session of xrdp,
    /// which has no seat and is not remote; and people at seat0 whose terminal runs outside the session.
    @Test(arguments: [
        Seat(sessions: ["3": "SEAT=seat0\nREMOTE=0\n"], isElsewhere: false),
        Seat(sessions: ["3": "SEAT=seat-usb1\nREMOTE=0\n"], isElsewhere: true),
        Seat(sessions: ["3": "SEAT=seat01\nREMOTE=0\n"], isElsewhere: true),
        Seat(sessions: ["3": "REMOTE=0\nXSEAT=seat0\n"], isElsewhere: true),
        Seat(
            cgroup: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n",
            sessions: ["1": "SEAT=seat0\n", "7": "REMOTE=0\n"], user: "SESSIONS=7 1\n", isElsewhere: false),
        Seat(
            cgroup: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n",
            sessions: ["1": "SEAT=seat0\n", "7": "REMOTE=0\n"], user: "SESSIONS=7\n", isElsewhere: true),
        Seat(cgroup: "0::/init.scope\n", sessions: [:], isElsewhere: false),
        Seat(
            cgroup: "0::/system.slice/gdm.service\n", sessions: ["7": "REMOTE=0\n"], user: "SESSIONS=7\n", uid: 0,
            isElsewhere: false),
    ]) func seats(seat: Seat) throws {
        let machine = Machine()
        try machine.put("/proc/self/cgroup", seat.cgroup)
        for (name, text) in seat.sessions { try machine.put("/run/systemd/sessions/\(name)", text) }
        if let user = seat.user { try machine.put("/run/systemd/users/\(seat.uid)", user) }
        let facts = machine.facts(uid: seat.uid)
        #expect(facts.isAtAnotherSeat == seat.isElsewhere)
        #expect(!facts.isRemote)
    }

    /// Catches a program that serves people afar and says so nowhere but in its name.
    @Test(arguments: [("xrdp-sesman", true), ("sshd", true), ("sudo", false)])
    func services(service: String, isRemote: Bool) {
        #expect(Machine().facts(service: service).isRemote == isRemote)
    }

    /// Catches a remote session that is not seen: in it, outside of it by `systemd-run --user`, or with a session that
    /// logind does not know, or behind a group that the user called like a local one; and a person at the machine who
    /// is shut out by somebody else's.
    @Test(arguments: [
        Session(
            cgroup: "0::/user.slice/user-1000.slice/session-3.scope\n", sessions: ["3": "UID=1000\nREMOTE=1\n"],
            isRemote: true),
        Session(
            cgroup: "0::/user.slice/user-1000.slice/session-c2.scope\n", sessions: ["c2": "UID=1000\nREMOTE=0\n"],
            user: "SESSIONS=c2 4\n", isRemote: false),
        Session(
            cgroup: "9:name=systemd:/user.slice/session-3.scope/x\n8:pids:/\n0::/\n", sessions: ["3": "REMOTE=1\n"],
            isRemote: true),
        Session(cgroup: "0::/user.slice/user-1000.slice/session-3.scope\n", sessions: [:], isRemote: true),
        Session(
            cgroup: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n",
            sessions: ["1": "REMOTE=0\n", "7": "REMOTE=1\n"], user: "STATE=active\nSESSIONS=1 7\n", isRemote: true),
        Session(
            cgroup: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n",
            sessions: ["1": "REMOTE=0\n", "7": "REMOTE=1\n"], user: "SESSIONS=1\nONLINE_SESSIONS=7\n", isRemote: false),
        Session(
            cgroup: "0::/user.slice/user-1000.slice/user@1000.service/session-1.scope\n",
            sessions: ["1": "REMOTE=0\n", "7": "REMOTE=1\n"], user: "SESSIONS=7\n", isRemote: true),
        Session(
            cgroup: "0::/system.slice/gdm.service\n", sessions: ["7": "REMOTE=1\n"], user: "SESSIONS=7\n", uid: 0,
            isRemote: false),
        Session(cgroup: "0::/session-../../x.scope\n", sessions: [:], user: "SESSIONS=\n", isRemote: false),
        Session(cgroup: "0::/session-..scope\n", sessions: [:], isRemote: true),
        Session(cgroup: "", sessions: ["1": "XREMOTE=1\n"], user: "SESSIONS=1\n", isRemote: false),
    ]) func sessions(session: Session) throws {
        let machine = Machine()
        try machine.put("/proc/self/cgroup", session.cgroup)
        for (name, text) in session.sessions { try machine.put("/run/systemd/sessions/\(name)", text) }
        if let user = session.user { try machine.put("/run/systemd/users/\(session.uid)", user) }
        #expect(machine.facts(uid: session.uid).isRemote == session.isRemote)
    }

    /// Catches a second lid that is not looked at, and "open" read as closed.
    @Test(arguments: [
        (["state:      open\n"], false), (["state:      closed\n"], true),
        (["state:      open\n", "state:      closed\n"], true), (["state:      unsupported\n"], false), ([""], false),
    ]) func lids(states: [String], isClosed: Bool) throws {
        let machine = Machine()
        for (index, state) in states.enumerated() { try machine.put("/proc/acpi/button/lid/LID\(index)/state", state) }
        #expect(machine.facts().lidClosed == isClosed)
    }

    /// Catches fields counted from the front, which a program's name can shift, and a process without a terminal that
    /// is taken for a background job.
    @Test(arguments: [
        ("12 (sudo) S 1 12 10 34816 12 4194560", false), ("12 (sudo) S 1 12 10 34816 10 4194560", true),
        ("12 (a) S 1 1 1) R 1 12 10 34816 10 4", true), ("12 (a b) S 1 12 10 34816 12 4", false),
        ("12 (sudo) S 1 12 10 0 -1 4194560", false), ("12 (sudo) S 1", false), ("", false), ("12 sudo S 1 2 3", false),
    ]) func background(stat: String, isBackground: Bool) throws {
        let machine = Machine()
        try machine.put("/proc/self/stat", stat)
        #expect(machine.facts().isBackground == isBackground)
    }

    /// Catches paths that are wrong on a real machine, where nothing would ever be found.
    @Test func thisProcess() {
        let facts = CallerFacts.current(remoteHost: Array("192.0.2.1".utf8), service: [])
        #expect(facts.realUID == getuid())
        #expect(facts.isRemote)
    }
}
