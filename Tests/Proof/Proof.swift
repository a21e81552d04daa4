import Glibc

/// How much of a proof runs, and where its figures go: a short form in `scripts/test`, the whole in `scripts/prove`.
package enum Proof {
    /// Whether every case is asked for, however long it takes (`SIGNET_PROVE`, which `scripts/prove` sets).
    package static let isWhole = getenv("SIGNET_PROVE") != nil

    /// The numbers from 0 to below `count` that a run tries: each in the whole proof, else `few` of them, evenly spread
    /// with the first and the last among them.
    package static func sample(of count: Int, few: Int) -> [Int] {
        guard !isWhole, few >= 2, count > few else { return Array(0..<max(count, 0)) }
        return (0..<few).map { $0 * (count - 1) / (few - 1) }
    }

    /// Adds a row to the summary of `scripts/prove`, or does nothing where no summary is asked for.
    ///
    /// - `what` has no tab and no line break; `seconds` is the time that the cases took.
    package static func report(_ what: String, cases: Int, failed: Int, seconds: Int) {
        guard let path = getenv("SIGNET_PROOFS").map({ String(cString: $0) }) else { return }
        let row = Array("\(what)\t\(cases)\t\(failed)\t\(seconds)\n".utf8)
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        // One write(2) with O_APPEND, so that rows of tests that run at once do not mix.
        _ = row.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
    }

    /// Seconds since an unspecified start, for the length of a proof.
    package static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec
    }
}
