import Foundation
import Proof
import SignetPolicy
import Testing

/// A task whose power is cut behind each step of what it did to the store.
struct CutRun {
    let user: User
    /// The store as it was before.
    let before: DiskImage
    let trace: DiskTrace
    let configuration: Configuration?

    /// Runs the task on the world's store and writes down what it does.
    init(_ user: User, configuration: Configuration? = nil, run: Tasks.Run) throws {
        self.user = user
        self.configuration = configuration
        before = try DiskImage(of: Signet.store)
        let path = try World.scratchFolder() + "/trace"
        let ending = try run(Killer(trace: path))
        trace = try DiskTrace(File.read(path))
        try #require(ending.code == 0 || ending.code == 1, "it does not work: \(ending)")
        var last = PowerCut(from: before, seed: 0)
        for step in trace.steps { last.take(step) }
        // What the trace misses, no cut of it can show.
        let after = try DiskImage(of: Signet.store)
        try #require(last.present.paths == after.paths, "the trace is not what was written")
    }

    private init(_ user: User, _ before: DiskImage, _ trace: DiskTrace, _ configuration: Configuration?) {
        (self.user, self.before, self.trace, self.configuration) = (user, before, trace, configuration)
    }

    /// The same without the steps that `isPlanted` names: a fault that the checker must find.
    func without(_ isPlanted: (DiskTrace.Step) -> Bool) -> CutRun {
        var planted = trace
        planted.steps.removeAll(where: isPlanted)
        return CutRun(user, before, planted, configuration)
    }

    /// What the checker found.
    struct Result {
        var cases = 0
        var failures: [String] = []
    }

    /// Checks every state in which a cut can leave the store.
    ///
    /// - `limit`: the most states behind one step.
    /// - `judge`: what is wrong with the records when so many steps were done; asked for each state.
    /// - `goOn`: what is wrong with what comes next, with the state as the world's store; asked for about `tries` states.
    func check(
        limit: Int, tries: Int = 0, judge: (RecordFacts, Int) -> [String], goOn: () throws -> [String] = { [] }
    ) throws -> Result {
        var cut = PowerCut(from: before, seed: 1)
        var result = Result()
        var known: Set<[String: [UInt8]]> = []
        var distinct = 0
        let folder = try World.scratchFolder()
        for done in 0...trace.steps.count {
            if done > 0 {
                let step = trace.steps[done - 1]
                cut.take(step)
                // The same state may be right before something was said, and wrong after it.
                switch step {
                case .compare, .tell, .send: known = []
                default: break
                }
            }
            for image in cut.states(limit: limit) where known.insert(image.paths).inserted {
                let path = "\(folder)/\(result.cases)"
                try image.write(to: path)
                var wrong = judge(RecordFacts(of: user, root: path, configuration: configuration), done)
                distinct += 1
                // Spread by a number that has nothing to do with the order of the states.
                if tries > 0, distinct * 7 % 100 < tries { wrong += try inStead(path, goOn) }
                result.cases += 1
                result.failures += wrong.map { "after \(done) of \(trace.steps.count) steps: \($0)" }
                try FileManager.default.removeItem(atPath: path)
            }
        }
        return result
    }

    /// Runs `body` while the state is the world's store.
    private func inStead(_ path: String, _ body: () throws -> [String]) throws -> [String] {
        let aside = Signet.store + ".cut"
        try Command.must("sh", "-euc", "mv \(Signet.store) \(aside); cp -a \(path) \(Signet.store)")
        defer { _ = try? Command.must("sh", "-euc", "rm -rf \(Signet.store); mv \(aside) \(Signet.store)") }
        return try body()
    }

    /// Checks, expects that nothing is wrong, and reports.
    func proof(
        _ what: String, limit: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation,
        judge: (RecordFacts, Int) -> [String], goOn: () throws -> [String]
    ) throws {
        let start = Proof.now()
        let result = try check(
            limit: limit ?? (Proof.isWhole ? 256 : 24), tries: Proof.isWhole ? 5 : 0, judge: judge, goOn: goOn)
        #expect(
            result.failures.isEmpty,
            "\(what), \(result.failures.count) of \(result.cases): \(result.failures.prefix(20).joined(separator: "\n"))",
            sourceLocation: sourceLocation)
        Proof.report(
            "power cut: \(what)", cases: result.cases, failed: result.failures.count, seconds: Proof.now() - start)
    }
}
