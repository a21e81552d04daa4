import Foundation
import SignetPlatform
import Testing

/// The helpers' own user: who may end or stop a helper while it compares, and whom it becomes where there is no such user.
@Suite(.serialized, .inWorld, .withProduct) struct HelperUserTests {
    /// A service that runs as nobody, as many do.
    private static let stranger = User(name: "nobody", password: "", uid: 65_534, gid: 65_534)

    /// Has a process of nobody's try to end, stop and trace `helper`, and to take its turns and limits; says what it could.
    private static func attack(_ helper: pid_t) throws -> [String] {
        var done: [String] = []
        let tries =
            ["KILL", "STOP", "TERM", "ABRT", "ALRM", "RTMAX"].map { ["kill", "-\($0)", "\(helper)"] } + [
                ["renice", "-n", "19", "-p", "\(helper)"], ["prlimit", "--pid", "\(helper)", "--cpu=1"],
                ["chrt", "--idle", "--pid", "0", "\(helper)"], ["cat", "/proc/\(helper)/mem"],
                ["ls", "/proc/\(helper)/fd/"],
            ]
        for words in tries where try Command.run(words, as: stranger).code == 0 {
            done.append(words.joined(separator: " "))
        }
        if try SensorProcess.line("State", of: helper).hasPrefix("T") { done.append("it stands still") }
        return done
    }

    private static func user(of helper: pid_t) throws -> Set<Substring> {
        Set(try SensorProcess.line("Uid", of: helper).split(separator: "\t"))
    }

    // Would catch a reader helper that shares its user with others: five that are killed would switch the finger off.
    @Test func aStrangerCannotEndTheReaderHelper() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            let helper = try SensorProcess.only()
            #expect(try Self.user(of: helper) == [Substring(SensorProcess.ownUser())])
            #expect(try Self.attack(helper) == [])
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try alice.fingerFailures() == 0)
        }
    }

    // Would catch a TPM helper that shares its user: one that is stopped while it compares makes a right PIN a kept failure.
    // The TPM is a pipe that answers what it is sent, which is enough for the helper to take it for one and to confine itself.
    @Test func aStrangerCannotEndTheTPMHelper() throws {
        let program = "/usr/libexec/signet/signet-enclave"
        let device = "/dev/signet-echo"
        try Command.must("mkfifo", "-m", "600", device)
        defer { unlink(device) }
        let owner = try HelperProcess(
            path: Array(program.utf8), arguments: [Array("--tcti".utf8), Array("device:\(device)".utf8)],
            packetLimit: 4096)
        let end = monotonicMilliseconds() + 10_000
        let own = [Substring(try SensorProcess.ownUser())] as Set
        var helper: pid_t?
        while helper == nil, monotonicMilliseconds() < end {
            helper = SensorProcess.all(program).first { process in
                (try? SensorProcess.line("Seccomp", of: process)) == "2"
            }
            usleep(5000)
        }
        let process = try #require(helper, "it has not confined itself")
        #expect(try Self.user(of: process) == own)
        #expect(try Self.attack(process) == [])
        withExtendedLifetime(owner) {}
    }

    // Would catch a machine without that user on which no finger works, and a helper that becomes root or a person because a
    // line of /etc/passwd says so.
    @Test(arguments: [
        "", "signet:x:0:0::/:/usr/sbin/nologin\n", "signet:x:UID:UID::/:/usr/sbin/nologin\n", "signet:x:1\n",
    ])
    func withoutItHelpersAreNobody(_ line: String) throws {
        try Enrolled.with { alice in
            let others = try File.read("/etc/passwd").split(separator: "\n").filter { !$0.hasPrefix("signet:") }
            let mine = line.replacingOccurrences(of: "UID", with: "\(alice.user.uid)")
            let text = others.joined(separator: "\n") + "\n" + mine
            try File.replaced("/etc/passwd", with: text) {
                let terminal = try alice.sudo()
                try alice.arm(terminal)
                let helper = try SensorProcess.only()
                #expect(try Self.user(of: helper) == ["65534"])
                // So the attack is one.
                #expect(try Command.run(["kill", "-CONT", "\(helper)"], as: Self.stranger).code == 0)
                try alice.reader.scan(Enrolled.finger)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                let doctor = try Command.run(["signet", "doctor"])
                let said = doctor.output.split(separator: "\n").first { $0.contains("helper user") } ?? ""
                let why = line.isEmpty ? "/etc/passwd has no user signet" : "the user signet is no system user"
                #expect(said.hasPrefix("warn") && said.contains(why), "\(doctor.output)")
            }
            let doctor = try Command.run(["signet", "doctor"])
            #expect(doctor.output.contains("helpers give up root for signet"), "\(doctor.output)")
        }
    }
}
