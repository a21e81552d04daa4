internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords

// A reader that another program has, most often fprintd: waited for briefly, then told by name, and never fought over.

extension SensorClient {
    /// Milliseconds for which a busy reader is waited for: fprintd gives one back right after a comparison, and who is to
    /// type a PIN instead is told within a second.
    private static let busyPatience = 450
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
                guard try isBusyElsewhere(error) else { throw error }
                if patience.hasPassed { throw .problem(.busy) }
            }
            try pause(beside: &watch)
        }
    }

    /// Whether a program that is not Signet's has the reader; `holder` is its name where it is known.
    ///
    /// libgusb before 0.3.11 has no word for "busy", so that any fault while fprintd has a reader open is taken for it.
    private mutating func isBusyElsewhere(_ stop: SensorStop) throws(SensorStop) -> Bool {
        switch stop {
        // Who has a claim is another prompt of Signet's, which is told at once.
        case .problem(.busy) where claimIsRefused: return false
        case .problem(.busy):
            holder = ReaderHolder.fprintd(root: processes)
            return true
        case .problem(.faulty), .problem(.notPermitted):
            holder = ReaderHolder.fprintd(root: processes)
            return holder != nil
        case .problem, .setAside: return false
        }
    }

    /// Waits with a new helper, which has nothing to say yet, so that the field is attended to.
    private mutating func pause<Watch: FieldWatch & ~Copyable>(beside watch: inout Watch) throws(SensorStop) {
        let reply: Reply
        do throws(ReaderProblem) {
            try start()
            let deadline = Deadline(milliseconds: SensorClient.busyRest)
            reply = try next(until: deadline, beside: &watch, watchingSignals: false)
        } catch {
            throw .problem(error)
        }
        switch reply {
        case .deadline: return
        case .field(let event): throw setAside(event)
        case .event, .signal: throw .problem(refuse())
        }
    }
}

extension ReaderHolder {
    /// The most processes that are looked at, and the most descriptors of one.
    private static let processLimit = 65_536
    private static let descriptorLimit = 1024

    /// "fprintd", where that program runs and has a reader open; nil where it does not, or nobody can tell.
    ///
    /// Only a program below /usr is believed to be it: others would speak in somebody else's prompt. `root` is put before
    /// /proc, for tests.
    static func fprintd(root: [UInt8] = []) -> [UInt8]? {
        let name = Array("fprintd".utf8)
        let processes = root + Array("/proc".utf8)
        for process in SmallFile.names(in: processes).prefix(processLimit)
        where process.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            let folder = processes + [UInt8(ascii: "/")] + process
            guard let path = SmallFile.target(of: folder + Array("/exe".utf8)), path.starts(with: "/usr/".utf8),
                ReaderHolder.program(folder) == name
            else { continue }
            let descriptors = folder + Array("/fd".utf8)
            for number in SmallFile.names(in: descriptors).prefix(descriptorLimit) {
                if let target = SmallFile.target(of: descriptors + [UInt8(ascii: "/")] + number), isReader(target) {
                    return name
                }
            }
        }
        return nil
    }

    /// Whether a file is a device that libfprint opens: a USB device, or a reader on the SPI bus.
    private static func isReader(_ path: [UInt8]) -> Bool {
        path.starts(with: "/dev/bus/usb/".utf8) || path.starts(with: "/dev/spidev".utf8)
            || path.starts(with: "/dev/hidraw".utf8)
    }
}
