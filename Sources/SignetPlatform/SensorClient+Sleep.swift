internal import SignetEngine
internal import SignetPolicy

// A machine that sleeps in the middle of a prompt.
//
// What was submitted to a USB device ends with an error when the bus is suspended, and libfprint turns `power/persist`
// off, so that the device is unplugged and found anew when the machine wakes up, some time later. So an armed reader is
// never trusted over a sleep: it is closed, waited for, opened anew by a new helper and armed again.

extension SensorClient {
    /// Milliseconds for which a reader that was lost in a sleep is waited for; the field is attended to meanwhile.
    private static let wakingPatience = 4000
    /// So many helpers may die meanwhile.
    private static let deathLimit = 3
    /// Milliseconds between two looks for it.
    private static let wakingRest = 200

    /// From here on a sleep counts.
    mutating func measureSleep() { sleep = SleepMeter() }

    /// Whether the machine has slept since; then its reader is waited for when readers are looked for next.
    mutating func hasSlept() -> Bool {
        guard sleep.hasSlept else { return false }
        measureSleep()
        waking = Waking(reader: lastOpened, end: Deadline(milliseconds: SensorClient.wakingPatience))
        return true
    }

    /// The same problem, or what lies behind it.
    mutating func cause(of problem: ReaderProblem) -> ReaderProblem { hasSlept() ? .slept : problem }

    /// The readers, once the one that was lost in a sleep is among them again or was waited for.
    mutating func listingAfterSleep<Watch: FieldWatch & ~Copyable>(
        beside watch: inout Watch
    ) throws(SensorStop) -> [ReaderDescription] {
        while true {
            do throws(SensorStop) {
                let found = try listing(beside: &watch)
                _ = hasSlept()
                guard let waking else { return found }
                let isBack = waking.reader.map { reader in found.contains { $0.identity == reader } } ?? !found.isEmpty
                if isBack { return found }
                if waking.end.hasPassed {
                    self.waking = nil
                    if found.isEmpty { throw SensorStop.problem(.slept) }
                    return found
                }
            } catch {
                guard try mayComeBack(error) else { throw error }
            }
            // A new helper looks with new eyes: one from before may miss what the bus found anew.
            try restAfterSleep(beside: &watch)
        }
    }

    /// Opens it; one that was lost in a sleep has its time to come back.
    mutating func openAfterSleep<Watch: FieldWatch & ~Copyable>(
        _ reader: ReaderIdentity, at place: ReaderPlace, for set: borrowing EnrollmentSet, gallery: [Int],
        beside watch: inout Watch
    ) throws(SensorStop) -> OpenedReader {
        while true {
            do throws(SensorStop) {
                let opened = try openPatiently(reader, at: place, for: set, gallery: gallery, beside: &watch)
                waking = nil
                return opened
            } catch {
                guard try mayComeBack(error) else { throw error }
            }
            try restAfterSleep(beside: &watch)
        }
    }

    /// Waits a moment with a new helper, which may have died of what the bus looks like by then.
    private mutating func restAfterSleep<Watch: FieldWatch & ~Copyable>(
        beside watch: inout Watch
    ) throws(SensorStop) {
        end()
        do throws(SensorStop) { try pause(SensorClient.wakingRest, beside: &watch) } catch {
            guard try mayComeBack(error) else { throw error }
        }
    }

    /// Whether the reader may only be waking up; where its time is over, the sleep is the reason.
    ///
    /// What has nothing to do with a sleep is told at once, and as what it is.
    private mutating func mayComeBack(_ stop: SensorStop) throws(SensorStop) -> Bool {
        guard case .problem(let problem) = stop else { return false }
        switch problem {
        case .slept, .busy, .tooHot, .notPermitted, .unsupported, .virtualRefused, .storageFull, .duplicate,
            .printNotFound:
            return false
        case .noReader, .removed, .ghost, .timedOut, .stalled, .cancelIgnored, .faulty, .helperFailed:
            _ = hasSlept()
            guard var waking else { return false }
            if !waking.end.hasPassed {
                // One that dies at once leaves nothing to wait with: a new one each time would keep a processor busy.
                if problem == .helperFailed { waking.deaths += 1 }
                self.waking = waking
                return waking.deaths <= SensorClient.deathLimit
            }
            self.waking = nil
            // That the bus still lists it tells the person what to do: to plug it in again.
            throw .problem(problem == .ghost ? .ghost : .slept)
        }
    }

    /// A reader that was lost in a sleep.
    struct Waking {
        /// Which; nil where none was opened yet.
        let reader: ReaderIdentity?
        /// Until when it may come back.
        let end: Deadline
        /// How many helpers have died since.
        var deaths = 0
    }
}
