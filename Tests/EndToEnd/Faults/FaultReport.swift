/// What the tracer of faults saw (Tests/Tools/faults.c).
struct FaultReport {
    struct Call: Hashable {
        let part: String
        let name: String
    }
    struct Hit {
        let part: String
        let call: String
        /// The file, path or kind of socket that the call was about.
        let target: String
    }

    var counts: [(call: Call, count: Int)] = []
    var hits: [Hit] = []
    /// Who ended by a signal, and by which.
    var deaths: [(part: String, signal: Int)] = []
    /// Who outlived the program.
    var left: [String] = []
    var hung = false

    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
            switch (words[0], words.count) {
            case ("count", 4...):
                guard let count = Int(words[3]) else { throw HarnessError("unknown line of the tracer: \(line)") }
                counts.append((Call(part: words[1], name: words[2]), count))
            case ("hit", 4...):
                hits.append(Hit(part: words[1], call: words[2], target: words.count > 4 ? words[4] : ""))
            case ("death", 3): deaths.append((words[1], Int(words[2]) ?? 0))
            case ("left", 2): left.append(words[1])
            case ("hang", 1): hung = true
            default: throw HarnessError("unknown line of the tracer: \(line)")
            }
        }
    }

    /// Each way in which each call that was counted can fail, in the order of their names.
    ///
    /// A helper's libraries look at hundreds of files: there each call fails in one way, and the ways take turns, which
    /// begin at `turn`.
    func points(turn: Int) throws -> [FaultPoint] {
        let unknown = counts.map(\.call.name).filter { !Fault.never.contains($0) && Fault.all(of: $0) == nil }
        guard unknown.isEmpty else { throw HarnessError("nobody has said how \(unknown) fail; see Fault.swift") }
        var points: [FaultPoint] = []
        for (call, count) in counts.sorted(by: { ($0.call.part, $0.call.name) < ($1.call.part, $1.call.name) }) {
            guard let faults = Fault.all(of: call.name) else { continue }
            let isOurs = (call.part == "module" || call.part == "start") && !Fault.glances.contains(call.name)
            for number in stride(from: 1, through: count, by: 1) {
                for (place, fault) in faults.enumerated() where isOurs || place == (number + turn) % faults.count {
                    points.append(FaultPoint(part: call.part, call: call.name, number: number, fault: fault))
                }
            }
        }
        return points
    }
}
