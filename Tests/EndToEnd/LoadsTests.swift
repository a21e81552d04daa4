import Proof
import Testing

/// A hundred authentications in one process, which loads and unloads the module each time: nothing of it stays or
/// grows.
@Suite(.serialized, .inWorld, .withProduct) struct LoadsTests {
    private static let rounds = 100
    /// What libpam, the C library and libsodium take once and keep is there after these.
    private static let warm = 10

    /// To the byte: glibc's caches of freed pieces count as used memory (mallinfo(3)), and fill slowly.
    private static let exact = ["env", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0"]

    private static func command(_ service: String, _ user: String, rounds: Int, options: [String] = []) -> [String] {
        exact
            + PAMHost.command(
                service, user, options: ["--rounds", "\(warm + rounds)", "--warm", "\(warm)"] + options)
    }

    /// Where the installed module lies.
    private static func module() throws -> String {
        try Command.must("find", "/usr/lib", "-name", "pam_signet.so").split(separator: "\n").map(String.init)[0]
    }

    /// What grew, and the rounds that left something behind.
    private static func faults(_ host: PAMHost, rounds: Int) -> [String] {
        var faults = host.rounds.enumerated().filter { !$0.element.left.isEmpty }.map { "\($0): \($1.left)" }
        if host.rounds.count != warm + rounds { faults.append("\(host.rounds.count) rounds") }
        for name in ["heap", "size", "resident", "locked", "mappings", "descriptors", "timers"] {
            // The kernel gives and takes pages by its own lights: a page for ten rounds is no growth of ours.
            let allowed = name == "resident" ? rounds / 10 * 4 : 0
            guard let value = host.growth[name], value <= allowed else {
                faults.append("\(name) grew by \(host.growth[name].map(String.init) ?? "?")")
                continue
            }
        }
        return faults
    }

    enum Story: String, CaseIterable {
        case rightPIN = "right PIN", wrongPIN = "wrong PIN, then locked out", cancelled, noPIN = "no PIN set"
        case unknownUser = "unknown user", conversations = "a conversation that fails"

        /// What costs a hundred times Argon2id and shows what the right PIN shows is for the whole proof.
        static var chosen: [Story] { Proof.isWhole ? allCases : [.rightPIN, .wrongPIN, .cancelled, .noPIN] }
    }

    // Would catch a byte, page, descriptor, mapping, timer, thread, child, handler or lock that each authentication
    // leaves in a program that authenticates again and again, such as a screen locker.
    @Test(arguments: Story.chosen) func aHundredTimesLeaveWhatOneLeaves(_ story: Story) throws {
        let began = Proof.now(), user = try story == .noPIN ? User.fresh() : Signet.user()
        let name = story == .unknownUser ? "x\(user.name.dropFirst())" : user.name
        let answer = story == .wrongPIN ? Signet.wrongPIN(1) : Signet.pin
        var options = ["--load", try Self.module()]
        if story == .conversations { options += ["--conversation", "failing"] }
        var faults: [String] = []
        try PAMStack.with("signet-test", auth: PAMStack.signet()) {
            let words = Self.command("signet-test", name, rounds: Self.rounds, options: options)
            let input = story == .cancelled ? "" : String(repeating: answer + "\n", count: Self.warm + Self.rounds)
            let host = try PAMHost(report: Command.run(words, input: input, within: 240).output)
            faults = Self.faults(host, rounds: Self.rounds)
            let granted = host.rounds.filter { $0.code == 0 }.count
            if granted != (story == .rightPIN ? Self.warm + Self.rounds : 0) { faults.append("\(granted) granted") }
        }
        #expect(faults.isEmpty, "\(faults)")
        Proof.report(
            "loads: \(story.rawValue)", cases: Self.rounds, failed: faults.isEmpty ? 0 : 1,
            seconds: Proof.now() - began)
    }

    // Would catch what the helper's start, its socket, the signals that are held and the terminal's modes leave behind
    // each time.
    @Test func aHundredTouchesLeaveWhatOneLeaves() throws {
        let began = Proof.now(), rounds = Proof.isWhole ? Self.rounds : 10
        var faults: [String] = []
        try Enrolled.with { alice in
            let options = ["--conversation", "field", "--load", try Self.module()]
            let terminal = try Terminal(Self.command("sudo", alice.user.name, rounds: rounds, options: options))
            for _ in 0..<(Self.warm + rounds) {
                try alice.arm(terminal)
                try alice.reader.scan(Enrolled.finger)
            }
            #expect(try terminal.finish() == 0)
            let host = try PAMHost(report: Terminal.lines(of: terminal.transcript).joined(separator: "\n"))
            faults = Self.faults(host, rounds: rounds)
        }
        #expect(faults.isEmpty, "\(faults)")
        Proof.report(
            "loads: matched touch", cases: rounds, failed: faults.isEmpty ? 0 : 1, seconds: Proof.now() - began)
    }

    // Would catch a host that does not see what grows.
    @Test(
        arguments: [
            ("nothing", nil), ("leak", "heap"), ("mapping", "size"), ("descriptor", "descriptors"),
            ("timer", "timers"), ("lock", "locked"),
        ] as [(String, String?)])
    func whatGrowsIsNamed(_ thing: String, _ name: String?) throws {
        try PAMStack.with("untidy", auth: ["auth required \(World.tools)/pam_untidy.so \(thing)"]) {
            let host = try PAMHost(report: Command.run(Self.command("untidy", "root", rounds: 20)).output)
            let named = Self.faults(host, rounds: 20).filter { $0.contains(" grew by ") }
            #expect(name.map { name in named.contains { $0.hasPrefix(name) } } ?? named.isEmpty, "\(named)")
        }
    }
}
