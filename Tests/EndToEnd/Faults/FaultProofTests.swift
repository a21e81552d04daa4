import Glibc
import Testing

/// The proof of faults, tried on programs that have one.
@Suite(.serialized, .inWorld, .traced) struct FaultProofTests {
    /// A shell that does this once, traced as the command line is.
    private func summary(_ script: String, mayGrant: Bool) throws -> FaultScenario.Summary {
        var scenario = FaultScenario(
            name: "planted", mayGrant: mayGrant, command: ["/bin/sh", "-c", script], hasMarks: false)
        scenario.deadline = 1000
        scenario.only = "module:openat"
        scenario.few = 100
        return try scenario.summary()
    }

    private func file(_ text: String) throws -> String {
        let path = try World.scratchFolder() + "/file"
        try File.write(text, to: path)
        return path
    }

    // Would catch a proof that overlooks a program which takes a file that it cannot read for one that forbids nothing.
    @Test func aFailureThatLetsInIsFound() throws {
        let path = try file("forbidden\n")
        let found = try summary("read word < \(path); [ \"$word\" != forbidden ]", mayGrant: false)
        #expect(found.wrong == [])
        #expect(found.failed.contains { $0.contains("GRANTED") && $0.contains(path) }, "\(found)")
    }

    // Would catch a proof to which silence is good enough.
    @Test func aFailureWithoutAWordIsFound() throws {
        let path = try file("allowed\n")
        let found = try summary("read word 2> /dev/null < \(path); [ \"$word\" = allowed ]", mayGrant: true)
        #expect(found.failed.contains { $0.contains("without a sentence") && $0.contains(path) }, "\(found)")
        #expect(found.failed.contains { $0.contains("without a line in the journal") }, "\(found)")
    }

    // Would catch a proof that takes a crash, a hang, or a terminal without echo for an orderly end.
    @Test(arguments: [
        ("kill -SEGV $$", "module died of signal 11"), ("exec sleep 60", "took"), ("stty -echo; exit 1", "left modes"),
        ("echo 806357; exit 1", "shows the PIN"),
    ])
    func eachBadEndIsFound(_ end: String, _ words: String) throws {
        let path = try file("allowed\n")
        let script = "read word 2> /dev/null < \(path); [ \"$word\" = allowed ] || { \(end); }"
        let found = try summary(script, mayGrant: true)
        #expect(found.failed.contains { $0.contains(words) }, "\(found)")
    }

    // Would catch a tracer that counts nothing, lets the wrong call fail, or another one with it.
    @Test func theTracerFailsTheCallThatWasNamed() throws {
        let path = try file("one\n")
        let report = path + ".report"
        let tracer = "\(World.tools)/faults"
        let shell = ["/bin/sh", "-c", "read word < \(path); read other < \(path); echo \"$word $other\""]
        #expect(try Command.run([tracer, report] + shell).output == "one one\n")
        let opened = try FaultReport(File.read(report)).counts.first { $0.call.name == "openat" }?.count ?? 0
        try #require(opened >= 2)
        for (number, words) in [(opened - 1, " one\n"), (opened, "one \n")] {
            let point = FaultPoint(part: "module", call: "openat", number: number, fault: .error(EIO))
            #expect(try Command.run([tracer, "--at", point.argument, report] + shell).output == words)
            #expect(try FaultReport(File.read(report)).hits.map(\.target) == [path])
        }
        // A short write is followed by the rest, where the writer is a good one; that of a shell is not.
        let half = FaultPoint(part: "module", call: "write", number: 1, fault: .short)
        #expect(try Command.run([tracer, "--at", half.argument, report] + shell).output.hasPrefix("one "))
    }
}
