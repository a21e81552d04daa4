internal import CPlatform
package import SignetPolicy

/// When a reader that has failed may be tried again by a program that asks by itself, such as a screen locker in a loop.
///
/// A file for each user, in the folder of the claims: how often in a row a reader failed, when last, and how. A person
/// who sits at a field never rests: the field waits for them, and no loop comes of it. What fails in somebody else's
/// process (`su alice`) counts for that caller, whoever is asked for, so that nobody makes another person's reader rest.
///
/// A file goes with the next success, and all of them with the boot (/run). So there are at most two of 13 bytes for each
/// uid that has met a failing reader: `rest-N` for the user, `rest-by-N` for the caller. Whoever has subordinate uids
/// (subuid(5), 65,536 as a rule) can make one for each of them, but not one for each and every other user.
package struct ReaderRest: Sendable {
    private let folder: [UInt8]
    private let name: FileName?

    /// The first rest, and the longest, in milliseconds.
    static let first: Int64 = 1_000
    static let longest: Int64 = 30_000
    /// Milliseconds without a failure after which the earlier ones are forgotten: a loop comes again in half a minute.
    static let forgotten: Int64 = 300_000

    /// What is known of the failures.
    struct Failures: Equatable {
        /// How many in a row.
        var count: UInt32
        /// When the last one was, in milliseconds of the boot clock.
        var last: Int64
        var problem: ReaderProblem

        /// Milliseconds for which nothing is tried after the last one: 1, 2, 4, … 30 seconds.
        var pause: Int64 { count == 0 ? 0 : min(longest, first << Int64(min(count - 1, 5))) }

        /// How many failures in a row there were, for one that comes now; what is long ago has nothing to do with it.
        func countBefore(failureAt now: Int64) -> UInt32 { now < last || now - last > forgotten ? 0 : count }

        /// Whether the rest is over; a clock that stands before the failure has begun anew.
        func areRested(at now: Int64) -> Bool { now < last || now - last >= pause }
    }

    /// The rests that count where `caller`, a real uid, asks for the user, kept in `folder`; root's programs ask as the user.
    package init(user: UInt32, caller: UInt32? = nil, in folder: [UInt8] = SensorClient.standardClaims) {
        self.folder = folder
        let other = caller.flatMap { $0 == 0 || $0 == user ? nil : "by-\($0)" }
        name = FileName(Array("rest-\(other ?? "\(user)")".utf8))
    }

    /// What the reader's problem was, while it rests; nil where it may be tried.
    package var problem: ReaderProblem? {
        guard let failures, !failures.areRested(at: Deadline.now) else { return nil }
        return failures.problem
    }

    /// The reader failed; that it was lost while the machine slept is no failure of its own.
    package func failed(_ problem: ReaderProblem) {
        if problem == .slept { return }
        let now = Deadline.now
        let count = failures?.countBefore(failureAt: now) ?? 0
        write(Failures(count: count == UInt32.max ? count : count + 1, last: now, problem: problem))
    }

    /// The reader did what it is there for.
    package func succeeded() {
        // Whoever has just opened the file to write a failure writes into none: that failure is lost, which rests less.
        guard let name, let folder = try? SecureFolder(path: folder) else { return }
        try? folder.remove(name)
    }

    // 4 bytes count, 8 bytes time, 1 byte problem, little endian. No lock: two programs that write at once lose a failure.

    /// nil where there are none, or they cannot be read: then nothing rests.
    private var failures: Failures? {
        guard let name, let folder = try? SecureFolder(path: folder),
            let bytes = try? folder.read(name, limit: 13), bytes.count == 13
        else { return nil }
        let count = (0..<4).reduce(0 as UInt32) { $0 | UInt32(bytes[$1]) << UInt32(8 * $1) }
        let last = (0..<8).reduce(0 as Int64) { $0 | Int64(bytes[4 + $1]) << Int64(8 * $1) }
        // The boot clock begins at 0; an instant before it would overflow what is reckoned with it.
        guard count > 0, last >= 0, let problem = ReaderProblem(rawValue: bytes[12]) else { return nil }
        return Failures(count: count, last: last, problem: problem)
    }

    private func write(_ failures: Failures) {
        var bytes: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: failures.count >> UInt32(8 * $0)) }
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: failures.last >> Int64(8 * $0)) }
        bytes.append(failures.problem.rawValue)
        // What cannot be written rests less, which is no worse than without.
        guard let name, let folder = try? SecureFolder(path: folder, creating: true),
            let file = try? folder.lockFile(name)
        else { return }
        try? file.write(bytes.span, at: 0)
    }
}
