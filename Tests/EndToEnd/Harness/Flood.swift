import Foundation
import Glibc
import Proof
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords

/// Many programs at once, again and again (Tests/Tools/flood.c).
final class Flood {
    /// What came of it.
    struct Outcome: CustomStringConvertible {
        /// How many programs ran, ended with 0, with another number, by a signal, and did not end in time.
        let runs: Int
        let granted: Int
        let refused: Int
        let killed: Int
        let hung: Int
        /// The longest of them, in milliseconds.
        let longest: Int
        /// The most anonymous memory that all programs of the world which ask Signet had at once, in MiB.
        let memory: Int
        /// The most of them that derived a key at once.
        let derivations: Int

        let description: String

        fileprivate init(_ text: String) throws {
            let pattern =
                /runs (\d+) granted (\d+) refused (\d+) killed (\d+) hung (\d+) longest (\d+) memory (\d+) derivations (\d+)\n/
            guard let match = text.wholeMatch(of: pattern) else { throw HarnessError("flood said: \(text)") }
            let output = match.output
            func number(_ digits: Substring) -> Int { Int(digits) ?? -1 }
            (runs, granted, refused) = (number(output.1), number(output.2), number(output.3))
            (killed, hung, longest) = (number(output.4), number(output.5), number(output.6))
            (memory, derivations) = (number(output.7) / 1024, number(output.8))
            description = text
        }
    }

    private let child: Child
    private let seconds: Double

    /// Starts `processes` programs as these users, in turn, for so long (0: once), each with one of the answers.
    ///
    /// They have a session of their own, as another person's programs have: the kernel shares the processors between sessions.
    init(
        _ command: [String], as users: [User], answers: [String], seconds: Double, processes: Int = 64,
        limit: Int = 90_000
    ) throws {
        self.seconds = seconds
        let uids = users.map { "\($0.uid)" }.joined(separator: ",")
        child = try Child(
            ["\(World.tools)/flood", "\(seconds)", "\(processes)", "\(limit)", uids, answers.joined(separator: ",")]
                + command, attachment: .pipes)
        child.goFirst()
    }

    /// Waits for the end.
    func outcome() throws -> Outcome {
        var text: [UInt8] = []
        let end = monotonicMilliseconds() + Int(seconds * 1000) + 120_000
        while monotonicMilliseconds() < end {
            switch try child.read(within: 1000) {
            case .bytes(let bytes): text += bytes
            case .end:
                guard try child.wait(within: 10_000) == 0 else { throw HarnessError("flood failed") }
                return try Outcome(String(decoding: text, as: UTF8.self))
            case .nothing: break
            }
        }
        throw HarnessError("the flood does not end: \(String(decoding: text, as: UTF8.self))")
    }

    /// Kills all of it: the programs are in the session that begins with the tool.
    func stop() { signal(SIGKILL) }

    /// Sends all of it a signal, as the machine's administrator may.
    func signal(_ number: CInt) { kill(-child.process, number) }

    deinit { stop() }
}

extension Child {
    /// In the whole proof, lets this session's programs go before those of other sessions, which are no part of what is measured.
    ///
    /// sched(7), "The autogroup feature"; a real-time class would not do, for the kernel's own threads would wait for it.
    func goFirst() {
        guard Proof.isWhole else { return }
        let file = open("/proc/\(process)/autogroup", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = Glibc.write(file, "-15", 3)
        close(file)
    }
}

/// A user's counters as they lie on the disk.
struct CountersOnDisk {
    /// Rises by one with each write: one for a wrong PIN, two for a right one.
    let writes: UInt64
    let attempts: Attempts

    init(_ user: User) throws {
        let root = UserStore.standardRoot
        let keys = try StoreOpening.open(root: root, EnclaveSettings(preference: .file)).takeKeys()
        guard let sealer = RecordSealer(keys) else { throw HarnessError("no memory") }
        let path = "\(Signet.folder(user))/attempts"
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        guard bytes.count == AttemptsFile.byteCount else { throw HarnessError("\(path) has \(bytes.count) bytes") }
        let slots = (0...1).map { number in
            let start = number * AttemptsFile.slotCount
            return AttemptsFile.decode(
                bytes.span.extracting(start..<start + AttemptsFile.slotCount), uid: user.uid, instance: nil,
                sealer: sealer)
        }
        let reading = try AttemptsFile.choose(slots[0], slots[1])
        (writes, attempts) = (reading.sequence, reading.attempts)
    }
}
