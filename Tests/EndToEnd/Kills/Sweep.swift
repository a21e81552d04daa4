import Foundation
import Proof
import Testing

/// A task that is killed at each of its system calls in turn, and what must hold after each.
struct Sweep {
    /// Its row in the summary of `scripts/prove`.
    let what: String
    /// How many points the short form tries.
    let few: Int
    /// As in `Killer`.
    var helper = false
    var every = false
    /// Puts back what else a run changes, beside the store.
    var prepare: (() throws -> Void)?
    /// Runs the task.
    let run: (Killer) throws -> Killer.Ending
    /// Whether a run that nobody killed did what it should.
    let isWhole: (Killer.Ending) -> Bool
    /// What is wrong with the records after a run; empty where nothing is.
    let judge: (Killer.Ending) throws -> [String]
    /// What is wrong with what comes next; asked once for each state of the store, which it may change.
    let goOn: () throws -> [String]

    /// Runs it at each point, and reports how many of them there were and how many failed.
    func callAsFunction(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let start = Proof.now()
        let store = try StoreCopy()
        try prepare?()
        let whole = try run(Killer(helper: helper, every: every))
        try #require(isWhole(whole), "\(what) does not work: \(whole)", sourceLocation: sourceLocation)
        var failures = try named("no point", faults(whole))
        var known: [[String: Data]] = []
        var isChanged = true
        let points = Proof.sample(of: whole.points, few: few).map { $0 + 1 }
        for point in points {
            if isChanged {
                try store.restore()
                try prepare?()
            }
            let before = try StoreCopy.contents()
            var call = -1
            var wrong: [String] = []
            do {
                let ending = try run(Killer(point: point, helper: helper, every: every))
                call = ending.killed ?? -1
                wrong = try faults(ending)
                let state = try StoreCopy.contents()
                isChanged = prepare != nil || state != before
                if !known.contains(state) {
                    known.append(state)
                    isChanged = true
                    wrong += try goOn()
                }
            } catch {
                isChanged = true
                wrong.append("\(error)")
            }
            failures += named("point \(point) of \(whole.points), call \(call)", wrong)
        }
        try store.restore()
        #expect(failures.isEmpty, "\(what): \(failures.joined(separator: "\n"))", sourceLocation: sourceLocation)
        Proof.report(
            "killed: \(what)", cases: points.count, failed: failures.count, seconds: Proof.now() - start)
    }

    private func faults(_ ending: Killer.Ending) throws -> [String] {
        var wrong = try judge(ending)
        let helpers = ["signet-sensor", "signet-enclave"]
        do { try Processes.wait("the end of the helpers") { !Processes.isRunning(helpers) } } catch {
            wrong.append("a helper was left")
        }
        return wrong.map { "\($0) [\(ending.shown.suffix(200))]" }
    }

    private func named(_ point: String, _ wrong: [String]) -> [String] { wrong.map { "\(point): \($0)" } }
}

extension Trait where Self == ConditionTrait {
    /// Runs the test in the whole proof alone, for the time that it takes.
    static var onlyWhole: Self { .enabled(if: Proof.isWhole, "takes long: scripts/prove") }
}

extension Processes {
    /// Whether a program runs that has one of these short names.
    static func isRunning(_ names: [String]) -> Bool {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.contains { process in
            guard pid_t(process) != nil, let name = try? File.read("/proc/\(process)/comm") else { return false }
            return names.contains(String(name.dropLast()))
        }
    }
}
