internal import CPlatform
package import SignetEngine
package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// What only the command line asks for: enrolling and deleting.

extension SensorClient {
    /// Seconds in which each touch of an enrollment must come.
    private static let enrollSeconds = 60
    /// Seconds in which a print must be deleted.
    private static let deleteSeconds = 10

    package mutating func enroll(
        _ finger: Finger, userName: [UInt8], progress: (EnrollmentProgress) -> Void
    ) throws(ReaderProblem) -> EnrolledPrint? {
        guard phase == .opened, let reader = identity, signals.hold() else { throw refuse() }
        measureSleep()
        helper?.expectPackets(upTo: SensorMessage.packetLimit)
        try send(.enroll(finger, userName: userName, day: SensorClient.today))
        var deadline = Deadline(seconds: SensorClient.enrollSeconds)
        var isCancelled = false
        // A reader has at most 255 stages; more events than four a stage are a flood.
        for _ in 0..<1024 {
            switch try next(until: deadline, watchingSignals: !isCancelled) {
            case .event(.stage(let done, let total)):
                if !isCancelled { deadline = Deadline(seconds: SensorClient.enrollSeconds) }
                progress(.stage(done: done, of: total))
            case .event(.retry(let reason)):
                if !isCancelled { deadline = Deadline(seconds: SensorClient.enrollSeconds) }
                progress(.retry(reason))
            case .event(.enrolled(_, let onReader)):
                guard let template = template.take() else { throw refuse() }
                return EnrolledPrint(reader: reader, onReader: onReader, template: template)
            case .event(.cancelled) where isCancelled: return nil
            case .event(.failed(let problem)):
                // A full memory or a known finger leaves the reader as it was.
                let cause = cause(of: problem)
                if cause != .storageFull, cause != .duplicate { end() }
                throw cause
            case .event(.cancelIgnored) where isCancelled:
                abandon()
                return nil
            case .event, .field, .sleep: throw refuse()
            case .signal:
                isCancelled = true
                deadline = try cancel()
            case .deadline:
                let cause = cause(of: isCancelled ? .stalled : .timedOut)
                abandon()
                throw cause
            }
        }
        throw refuse()
    }

    /// Days since 1970-01-01 on the wall clock, which the reader's memory keeps for people to read.
    private static var today: UInt32 {
        var now = timespec()
        // SAFETY: `now` is good for the call.
        guard unsafe clock_gettime(CLOCK_REALTIME, &now) == 0 else { return 0 }
        return UInt32(clamping: now.tv_sec / 86_400)
    }

    package mutating func deleteFromReader(index: Int) throws(ReaderProblem) {
        guard phase == .opened, presence.indices.contains(index) else { throw refuse() }
        try send(.delete(index: index))
        switch try next(until: Deadline(seconds: SensorClient.deleteSeconds), watchingSignals: false) {
        case .event(.deleted): return
        case .event(.failed(let problem)): throw cause(of: problem)
        case .deadline:
            let cause = cause(of: .timedOut)
            abandon()
            throw cause
        case .event, .field, .signal, .sleep: throw refuse()
        }
    }
}
