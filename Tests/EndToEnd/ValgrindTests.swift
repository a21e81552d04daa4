import Foundation
import Proof
import Testing

/// The shipped module under valgrind, in a program that authenticates once by each way through it.
@Suite(.serialized, .inWorld, .withProduct) struct ValgrindTests {
    /// One way through the module, without a reader.
    struct Story: CustomTestStringConvertible {
        let name: String
        var answers = [Signet.pin]
        var options: [String] = []
        var arguments = ""
        let code: Int
        /// Only in the whole proof.
        var isLong = true

        var testDescription: String { name }

        static let all = [
            Story(name: "right PIN", code: 0, isLong: false),
            Story(name: "wrong PIN", answers: [Signet.wrongPIN(1)], code: 7, isLong: false),
            Story(name: "cancelled", answers: [], code: 7, isLong: false),
            Story(name: "empty answers", answers: ["", "", ""], code: 7),
            Story(
                name: "wrong PINs until locked out", answers: (1...6).map { Signet.wrongPIN($0) },
                options: ["--rounds", "6"], code: 11),
            Story(name: "silent", options: ["--silent"], code: 0),
            Story(name: "from afar", options: ["--item", "rhost=192.0.2.1"], code: 0),
            Story(name: "no conversation", answers: [], options: ["--conversation", "none"], code: 7),
            Story(name: "a failing conversation", answers: [], options: ["--conversation", "failing"], code: 7),
            Story(name: "an answer that is none", answers: [], options: ["--conversation", "null"], code: 7),
            Story(name: "an answer of a megabyte", answers: [], options: ["--conversation", "huge"], code: 7),
            Story(name: "an unknown argument", arguments: "none=1", code: 0),
            Story(
                name: "a hostile caller",
                options: ["closed-stdio", "umask", "ignored-child", "ignored-pipe", "deleted-folder", "blocked"]
                    .flatMap { ["--hostile", $0] }, code: 0),
        ]
    }

    private static func stack(_ arguments: String = "") -> [String] {
        PAMStack.signet(arguments).map { $0.replacingOccurrences(of: "pam_signet.so", with: Valgrind.module) }
    }

    /// Runs it under valgrind and answers the faults.
    private static func faults(
        _ user: String, _ story: Story, service: String = "signet-test"
    ) throws -> [String] {
        let folder = try World.scratchFolder()
        return try PAMStack.with(service, auth: stack(story.arguments)) {
            let words = PAMHost.command(service, user, options: story.options)
            let result = try Command.run(
                Valgrind.command(words, into: folder), input: story.answers.map { $0 + "\n" }.joined(), within: 200)
            let host = try PAMHost(report: result.output)
            var faults = try Valgrind(in: folder).faults
            if host.rounds.last?.code != story.code { faults.append("code \(host.rounds.map(\.code))") }
            if host.rounds.contains(where: { !$0.left.isEmpty }) { faults.append("left \(host.rounds.map(\.left))") }
            return faults
        }
    }

    private static func report(_ name: String, _ faults: [String], since began: Int) {
        Proof.report(
            "valgrind: \(name)", cases: 1, failed: faults.isEmpty ? 0 : 1, seconds: Proof.now() - began)
    }

    // Would catch a read or write beyond what is ours, a decision on memory that nobody wrote, and what is lost or left
    // open.
    @Test(arguments: Story.all.filter { Proof.isWhole || !$0.isLong }) func nothingIsWrong(_ story: Story) throws {
        let began = Proof.now(), faults = try Self.faults(Signet.user().name, story)
        #expect(faults.isEmpty, "\(faults)")
        Self.report(story.name, faults, since: began)
    }

    // Would catch the same where there is no user, no PIN, or no record that can be read.
    @Test(.enabled(if: Proof.isWhole, "the whole proof alone: scripts/prove valgrind"))
    func nothingIsWrongWhereNobodyCanBeLetIn() throws {
        let stranger = try User.fresh().name, user = try Signet.user()
        for name in ["identity", "attempts"] {
            try Command.must("truncate", "-s", "100", Signet.folder(user) + "/" + name)
        }
        for (name, user, code) in [
            ("unknown user", "x" + stranger.dropFirst(), 10), ("no PIN set", stranger, 9),
            ("damaged record", user.name, 3),
        ] {
            let began = Proof.now(), faults = try Self.faults(user, Story(name: name, code: code))
            #expect(faults.isEmpty, "\(name): \(faults)")
            Self.report(name, faults, since: began)
        }
    }

    // Would catch the same at the field on a terminal, at a helper's start and end, and in what a reader says.
    @Test(
        .enabled(if: Proof.isWhole, "the whole proof alone: scripts/prove valgrind"),
        arguments: ["matched touch", "refused touch, then PIN", "PIN at the field", "Ctrl-D at the field"])
    func nothingIsWrongAtTheField(_ name: String) throws {
        let began = Proof.now()
        var faults: [String] = []
        try Enrolled.with { alice in
            let folder = try World.scratchFolder()
            let words = PAMHost.command("signet-test", alice.user.name, options: ["--conversation", "field"])
            let code = try PAMStack.with("signet-test", auth: Self.stack()) {
                let terminal = try Terminal(Valgrind.command(words, into: folder))
                try terminal.waitForSecretPrompt(Offer.begun, within: 60)
                try terminal.waitForSecretPrompt(Offer.touch, within: 60)
                switch name {
                case "matched touch": try alice.reader.scan(Enrolled.finger)
                case "refused touch, then PIN":
                    try alice.reader.scan("someone-else")
                    try terminal.waitFor(Offer.refused, within: 60)
                    try terminal.type(line: Enrolled.pin)
                case "PIN at the field": try terminal.type(line: "5\u{7F}" + Enrolled.pin)
                default: try terminal.press("d")
                }
                return try terminal.finish(within: 120)
            }
            faults = try Valgrind(in: folder).faults
            if code != (name.hasPrefix("Ctrl") ? 1 : 0) { faults.append("code \(code)") }
        }
        #expect(faults.isEmpty, "\(faults)")
        Self.report(name, faults, since: began)
    }

    // Would catch a module under valgrind that is not the one that is shipped.
    @Test func itsCodeIsTheShippedModules() throws {
        let code = try [Valgrind.module, World.stage + "/pam_signet.so"].map { module in
            let section = "objcopy -O binary --only-section=.text \(module) /dev/shm/code"
            return try Command.must("sh", "-c", "\(section) && sha256sum < /dev/shm/code && wc -c < /dev/shm/code")
        }
        #expect(code[0] == code[1])
    }

    // Would catch an instrument that sees nothing, because of an option, a suppression or a program that it does not
    // follow.
    @Test(
        arguments: [
            ("nothing", nil), ("uninitialised", "uninitialised"), ("overread", "Invalid read"),
            ("stale", "Invalid write"),
            ("leak", "definitely lost in"), ("descriptor", "descriptor"),
        ] as [(String, String?)])
    func eachFaultIsSeen(_ thing: String, _ name: String?) throws {
        let folder = try World.scratchFolder()
        try PAMStack.with("untidy", auth: ["auth required \(World.tools)/pam_untidy.so \(thing)"]) {
            let result = try Command.run(Valgrind.command(PAMHost.command("untidy", "root"), into: folder))
            #expect(result.code == 0, "\(result)")
            #expect(try Valgrind(in: folder).faults == (name.map { [$0] } ?? []))
        }
    }
}
