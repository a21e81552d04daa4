import Glibc
import Testing

/// The private world and its shifted boots, without any part of Signet.
@Suite(.serialized, .inWorld) struct WorldTests {
    // Would catch an overlay that writes through: the machine's own user file would change.
    @Test func newUsersStayInTheWorld() throws {
        let before = try File.read(World.machine("etc") + "/passwd")
        let user = try User.fresh()
        #expect(try File.read("/etc/passwd").contains("\n\(user.name):"))
        #expect(try File.read(World.machine("etc") + "/passwd") == before)
        try user.remove()
        #expect(try !File.read("/etc/passwd").contains("\n\(user.name):"))
    }

    // Would catch an inner world that starts empty, or that lets its changes out.
    @Test func aWorldInAWorldKeepsItsChangesToItself() throws {
        let user = try User.fresh()
        let script = "id -u \(user.name) && useradd -M inner && id -u inner"
        let inner = try Command.run([World.packageRoot + "/scripts/world", "sh", "-c", script])
        #expect(inner.code == 0, "\(inner.error)")
        #expect(inner.output.hasPrefix("\(user.uid)\n"))
        #expect(try Command.run(["id", "inner"]).code == 1)
    }

    // Would catch a process that outlives its world and goes on to hold locks or answer sockets.
    @Test func nothingOutlivesAnInnerWorld() throws {
        let script = "setsid sleep 86397 > /dev/null 2>&1 & until pgrep -x sleep; do :; done > /dev/null; echo there"
        let inner = try Command.run([World.packageRoot + "/scripts/world", "sh", "-c", script])
        #expect((inner.code, inner.output) == (0, "there\n"), "\(inner.error)")
        #expect(try !Command.must("ps", "-eo", "args").contains("sleep 86397"))
    }

    // Would catch a shift that does not reach programs, so that tests of waiting times would pass without a wait.
    @Test func aShiftedBootIsSeenThroughRealSudo() throws {
        let user = try User.fresh()
        let read = ["sudo", "-S", "cat", "/proc/uptime", "/proc/sys/kernel/random/boot_id"]
        let uptime = try Double(File.read("/proc/uptime").prefix { $0 != " " }) ?? 0
        let identity = try File.read("/proc/sys/kernel/random/boot_id")
        let reboot = try BootShift.reboot(seconds: 5000)
        try PAMStack.with("sudo", auth: ["auth required pam_permit.so"]) {
            let later = try Command.run(BootShift.later(seconds: 3600).command(read, as: user))
            #expect(try #require(Double(later.output.prefix { $0 != " " })) >= uptime + 3600)
            #expect(later.output.hasSuffix(identity))
            let other = try Command.run(reboot.command(read, as: user))
            let again = try Command.run(reboot.later(seconds: 60).command(read, as: user))
            #expect(try #require(Double(other.output.prefix { $0 != " " })) >= uptime + 5000)
            #expect(try #require(Double(again.output.prefix { $0 != " " })) >= uptime + 5060)
            #expect(!other.output.hasSuffix(identity))
            #expect(other.output.split(separator: "\n").last == again.output.split(separator: "\n").last)
        }
        #expect(try File.read("/proc/sys/kernel/random/boot_id") == identity)
    }

    // Would catch a listener that loses lines, which would hide what a decision wrote.
    @Test func theJournalListenerMissesNothing() throws {
        let journal = try JournalListener()
        for number in 1...40 { try Command.must("logger", "--priority", "authpriv.notice", "line \(number).") }
        try journal.waitFor("<85>", "line 40.")
        #expect((1...40).allSatisfy { number in journal.lines.contains { $0.contains("line \(number).") } })
    }
}
