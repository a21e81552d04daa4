package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// Taking prints out of a reader's memory: which reader is asked, what of its word counts, and why a print stayed.

/// Prints that were to leave a reader's memory, and stay there for one reason.
package struct PrintsLeft: Equatable, Sendable {
    /// Why they stay.
    package enum Cause: Equatable, Sendable {
        /// With who has the reader, where it is busy and that is known.
        case problem(ReaderProblem, holder: [UInt8]?)
        /// It was not asked, for where it is.
        case notTrusted(ReaderDistrust)
    }

    package let reader: ReaderIdentity
    package internal(set) var prints: Int
    package let why: Cause

    package init(reader: ReaderIdentity, prints: Int, why: Cause) {
        self.reader = reader
        self.prints = prints
        self.why = why
    }
}

/// What came of asking one reader to forget prints; the numbers are indices of the set's entries.
struct ForgottenByReader {
    var deleted: [Int] = []
    /// Those that it had no more.
    var gone: [Int] = []
    /// Each reason once.
    var left: [PrintsLeft] = []

    mutating func leave(_ prints: Int, on reader: ReaderIdentity, _ why: PrintsLeft.Cause) {
        if prints == 0 { return }
        guard let known = left.firstIndex(where: { $0.reader == reader && $0.why == why }) else {
            left.append(PrintsLeft(reader: reader, prints: prints, why: why))
            return
        }
        left[known].prints += prints
    }
}

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Deletes those prints of `set` that are at `indices`, all of one reader, from its memory.
    ///
    /// `approved` is where the reader was when its prints were approved, where anybody knows. `stillDoomed` is asked once
    /// the reader is open, when nobody else has it. A print is gone only where every reader that may be the one says that
    /// it does not have it: a second one of the same name knows nothing of the first one's memory.
    mutating func deleteFromMemory(
        of reader: ReaderIdentity, approved: ReaderPlace?, _ set: borrowing EnrollmentSet, _ indices: [Int],
        stillDoomed: (inout Self) throws(ManagementRefusal) -> [Int]
    ) -> ForgottenByReader {
        var outcome = ForgottenByReader()
        var rest = indices
        do throws(ManagementRefusal) {
            for place in try places(of: reader, approved: approved) {
                let asked = rest
                let presence = try open(reader, at: place, set, asked).presence
                let doomed = try stillDoomed(&self)
                rest = []
                var first: ReaderProblem?
                for (position, index) in asked.enumerated() where doomed.contains(index) {
                    if presence[position] == .missing {
                        rest.append(index)
                        continue
                    }
                    do throws(ReaderProblem) {
                        try sensor.deleteFromReader(index: position)
                        outcome.deleted.append(index)
                    } catch {
                        if error == .printNotFound {
                            rest.append(index)
                        } else {
                            // A helper that was given up over one print says no more than that of the next.
                            let why = error == .helperFailed ? first ?? error : error
                            first = first ?? error
                            outcome.leave(1, on: reader, .problem(why, holder: nil))
                        }
                    }
                }
                sensor.close()
                if rest.isEmpty { break }
            }
            outcome.gone = rest
        } catch {
            sensor.close()
            outcome.leave(rest.count, on: reader, cause(error))
        }
        return outcome
    }

    /// Where a reader may be that holds the prints: at the approved port, else at each port that is trusted.
    ///
    /// With its place it is found who has it, where somebody has. A configuration that refuses chips does not keep anybody
    /// from clearing one.
    private mutating func places(
        of reader: ReaderIdentity, approved: ReaderPlace?
    ) throws(ManagementRefusal) -> [ReaderPlace] {
        let present = try presentReaders().filter { $0.identity == reader }
        guard let first = present.first else { throw .reader(.noReader) }
        if let approved, let known = present.first(where: { $0.place.isSamePort(as: approved) }) {
            return [known.place]
        }
        let trust = ledger.trust
        let trusted = present.filter { trust.distrust($0.place, approved: nil, onChip: false) == nil }
        guard trusted.isEmpty else { return trusted.map { $0.place } }
        throw .readerNotTrusted(trust.distrust(first.place, approved: nil, onChip: false) ?? .unplaced)
    }

    private func cause(_ refusal: ManagementRefusal) -> PrintsLeft.Cause {
        switch refusal {
        case .reader(let problem): .problem(problem, holder: problem == .busy ? sensor.holder : nil)
        case .readerNotTrusted(let distrust): .notTrusted(distrust)
        default: .problem(.faulty, holder: nil)
        }
    }
}
