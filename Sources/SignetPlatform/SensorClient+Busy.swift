internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords

// A reader that another program has, most often fprintd: waited for briefly, then told by name, and never fought over.
//
// Who it is, the kernel's list of open files says (DeviceHolders). fprintd's word on the bus would add nothing: it names
// no process but itself, and has a device's file open for as long as it has the device.

extension SensorClient {
    /// Milliseconds for which a busy reader is waited for: fprintd gives one back right after a comparison, and who is to
    /// type a PIN instead is told within a second.
    private static let busyPatience = 450
    /// Milliseconds in which whoever has the reader is looked for, each time.
    package static let searchPatience = 150
    /// Milliseconds between two tries to open it.
    private static let busyRest = 150

    /// Opens it, after a short wait where another program has it.
    mutating func openPatiently<Watch: FieldWatch & ~Copyable>(
        _ reader: ReaderIdentity, at place: ReaderPlace, for set: borrowing EnrollmentSet, gallery: [Int],
        beside watch: inout Watch
    ) throws(SensorStop) -> OpenedReader {
        let patience = Deadline(milliseconds: SensorClient.busyPatience)
        while true {
            do throws(SensorStop) {
                return try openAtOnce(reader, at: place, for: set, gallery: gallery, beside: &watch)
            } catch {
                guard isBusyElsewhere(error, place) else { throw error }
                if patience.hasPassed { throw .problem(.busy) }
            }
            try pause(SensorClient.busyRest, beside: &watch)
        }
    }

    /// Whether a program that is not Signet's has the reader; `holder` is its name where it is known.
    ///
    /// libgusb before 0.3.11 has no word for "busy", so that a fault while somebody has the device open is taken for it.
    private mutating func isBusyElsewhere(_ stop: SensorStop, _ place: ReaderPlace) -> Bool {
        switch stop {
        // Who has a claim is another prompt of Signet's, which is told at once.
        case .problem(.busy) where claimIsRefused: return false
        case .problem(.busy), .problem(.faulty), .problem(.notPermitted):
            let isBusy = stop == .problem(.busy)
            // Who has opened the HID device beside a chip explains a busy one, but never makes a faulty one busy.
            // The helper that was refused is gone by now, so it is not found.
            let found = DeviceHolders(root: root).holders(
                of: place, wakers: isBusy, within: SensorClient.searchPatience)
            holder = found.first { $0.isInstalled }?.words
            return !found.isEmpty || isBusy
        case .problem, .setAside: return false
        }
    }

    /// Waits with a new helper, which has nothing to say yet, so that the field is attended to.
    mutating func pause<Watch: FieldWatch & ~Copyable>(
        _ milliseconds: Int, beside watch: inout Watch
    ) throws(SensorStop) {
        let reply: Reply
        do throws(ReaderProblem) {
            try start()
            let deadline = Deadline(milliseconds: milliseconds)
            reply = try next(until: deadline, beside: &watch, watchingSignals: false)
        } catch {
            throw .problem(error)
        }
        switch reply {
        case .deadline: return
        case .field(let event): throw setAside(event)
        case .event, .signal, .sleep: throw .problem(refuse())
        }
    }
}
