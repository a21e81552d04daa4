internal import CPlatform
package import SignetEngine
package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// The fingerprint readers, through a helper process of which nothing is believed that does not fit.
package struct SensorClient: ~Copyable {
    private let path: [UInt8]
    private let arguments: [[UInt8]]
    /// Seconds for listing, opening and arming each.
    private let openSeconds: Int

    private var helper: HelperProcess?
    private var signals = HeldSignals()
    private var phase = Phase.idle
    /// Where each print of the gallery is; a match must name one that the reader can have compared.
    private var presence: [PrintPresence] = []
    private var identity: ReaderIdentity?
    /// The template of an `enrolled` that has just come.
    private var template: SecretBytes?
    /// A finger was seen since the try began; stays through retries, which belong to the same try.
    private var fingerSeen = false
    /// The last touch was a retry.
    private var tryGoesOn = false

    /// What the helper is doing.
    private enum Phase: Equatable {
        /// No helper, or one that has opened nothing and can still be asked anything.
        case idle
        case opened
        /// Armed; `confirmed` where the helper has said so.
        case armed(confirmed: Bool)
        /// Ending by itself.
        case closing
    }

    /// Milliseconds in which a living helper takes a packet.
    private static let sendLimit = 1000
    /// Milliseconds in which a living helper answers a cancel.
    private static let cancelLimit = 1000
    /// The longest wait for a touch in seconds; the helper's own alarm is longer.
    private static let touchSeconds = 90
    /// Seconds in which each touch of an enrollment must come.
    private static let enrollSeconds = 60
    /// Seconds in which a print must be deleted.
    private static let deleteSeconds = 10

    /// The helper that is installed; the configuration may name another.
    package static var standardHelper: [UInt8] { Array("/usr/libexec/signet/signet-sensor".utf8) }

    /// Takes the helper's absolute path, the arguments after its name, and the seconds a reader may take to open.
    package init(helper path: [UInt8], arguments: [[UInt8]] = [], openSeconds: Int) {
        self.path = path
        self.arguments = arguments
        self.openSeconds = max(1, min(openSeconds, 60))
    }

    /// A packet, read.
    private struct Answer: ~Copyable {
        let event: SensorEvent?
        /// The template of `enrolled`.
        var template: SecretBytes?
    }

    private enum Reply {
        case event(SensorEvent)
        case signal
        case deadline
    }

    /// Starts a helper, unless there is one that has opened nothing.
    private mutating func start() throws(ReaderProblem) {
        if phase != .idle { end() }
        if helper != nil { return }
        do throws(HelperFailure) {
            helper = try HelperProcess(path: path, arguments: arguments, packetLimit: SensorMessage.packetLimit)
        } catch {
            throw .helperFailed
        }
    }

    /// Kills a helper that does not behave.
    private mutating func abandon() {
        helper?.kill()
        end()
    }

    private mutating func end() {
        helper = nil
        template = nil
        phase = .idle
        presence = []
        identity = nil
    }

    private mutating func send(_ request: SensorRequest) throws(ReaderProblem) {
        let none: [UInt8] = []
        try send(request, templateFrom: none.span)
    }

    private mutating func send(_ request: SensorRequest, templateFrom source: Span<UInt8>) throws(ReaderProblem) {
        do throws(HelperFailure) {
            let done: Void? = try helper?.send(within: SensorClient.sendLimit) { packet in
                try? request.encode(templateFrom: source, into: &packet)
            }
            guard done != nil else { throw HelperFailure.ended }
        } catch {
            abandon()
            throw .helperFailed
        }
    }

    /// The helper's next event, a signal where they are watched, or the deadline.
    ///
    /// A helper that is gone or speaks nonsense is ended.
    private mutating func next(until deadline: Deadline, watchingSignals: Bool) throws(ReaderProblem) -> Reply {
        do throws(HelperFailure) {
            switch helper?.wait(until: deadline, orSignalOn: watchingSignals ? signals.descriptor : -1) {
            case nil: throw HelperFailure.ended
            case .signal: return .signal
            case .deadline: return .deadline
            case .packet: break
            }
            let answer = try helper?.receive { packet in SensorClient.read(packet) }
            guard let answer, let event = answer.event else { throw HelperFailure.nonsense }
            template = answer.template
            return .event(event)
        } catch {
            abandon()
            throw .helperFailed
        }
    }

    private static func read(_ packet: Span<UInt8>) -> Answer {
        guard let event = try? SensorEvent(decoding: packet) else { return Answer(event: nil, template: nil) }
        guard case .enrolled(let place, _) = event else { return Answer(event: event, template: nil) }
        return Answer(event: event, template: SecretBytes(copying: packet.extracting(place)))
    }

    /// As `next`, for requests that no signal interrupts, and with the deadline as a failure.
    private mutating func answer(until deadline: Deadline) throws(ReaderProblem) -> SensorEvent {
        switch try next(until: deadline, watchingSignals: false) {
        case .event(.failed(let problem)):
            end()
            throw problem
        case .event(let event): return event
        case .signal:
            abandon()
            throw .helperFailed
        case .deadline:
            abandon()
            throw .timedOut
        }
    }

    /// The answer is not one that may come now.
    private mutating func refuse() -> ReaderProblem {
        abandon()
        return .helperFailed
    }
}

extension SensorClient: FingerSensor {
    package mutating func prepare() { try? start() }

    package mutating func readers<Watch: FieldWatch & ~Copyable>(
        beside watch: inout Watch
    ) throws(SensorStop) -> [ReaderDescription] {
        do throws(ReaderProblem) { return try readersOnce() } catch { throw .problem(error) }
    }

    private mutating func readersOnce() throws(ReaderProblem) -> [ReaderDescription] {
        let isPrepared = phase == .idle && helper != nil
        do throws(ReaderProblem) { return try list() } catch {
            // One that was started early may have met its end while the person read; then its successor is asked.
            guard isPrepared, error == .helperFailed else { throw error }
            return try list()
        }
    }

    /// Lists the readers and keeps the helper, which can open one of them next.
    private mutating func list() throws(ReaderProblem) -> [ReaderDescription] {
        try start()
        try send(.list)
        let deadline = Deadline(seconds: openSeconds)
        var found: [ReaderDescription] = []
        while true {
            switch try answer(until: deadline) {
            case .reader(let description) where found.count < SensorMessage.readerLimit: found.append(description)
            case .listed(let count, let virtualRefused):
                guard count == found.count else { throw refuse() }
                if found.isEmpty, virtualRefused { throw .virtualRefused }
                return found
            default: throw refuse()
            }
        }
    }

    package mutating func open<Watch: FieldWatch & ~Copyable>(
        _ reader: ReaderIdentity, for set: borrowing EnrollmentSet, gallery: [Int], beside watch: inout Watch
    ) throws(SensorStop) -> OpenedReader {
        do throws(ReaderProblem) { return try openOnce(reader, for: set, gallery: gallery) } catch {
            throw .problem(error)
        }
    }

    private mutating func openOnce(
        _ reader: ReaderIdentity, for set: borrowing EnrollmentSet, gallery: [Int]
    ) throws(ReaderProblem) -> OpenedReader {
        guard gallery.count <= SensorMessage.galleryLimit else { throw .unsupported }
        for index in gallery {
            guard set.entries.indices.contains(index), set.entries[index].reader == reader else { throw .unsupported }
        }
        try start()
        let deadline = Deadline(seconds: openSeconds)
        try send(.begin(reader))
        for index in gallery {
            try set.withTemplate(of: set.entries[index]) { (template) throws(ReaderProblem) in
                try send(.galleryPrint(template: 0..<template.count), templateFrom: template)
            }
        }
        try send(.open)
        guard case .reader(let description) = try answer(until: deadline), description.identity == reader,
            case .opened(let presence, let foreignPrints) = try answer(until: deadline),
            presence.count == gallery.count
        else { throw refuse() }
        self.presence = presence
        identity = reader
        phase = .opened
        fingerSeen = false
        tryGoesOn = false
        return OpenedReader(description: description, presence: presence, foreignPrints: foreignPrints)
    }

    package mutating func arm<Watch: FieldWatch & ~Copyable>(beside watch: inout Watch) throws(ReaderProblem) {
        guard phase == .opened, signals.hold() else { throw refuse() }
        if !tryGoesOn { fingerSeen = false }
        tryGoesOn = false
        try send(.arm)
        // The helper waits until the finger before is lifted.
        switch try next(until: Deadline(seconds: openSeconds), watchingSignals: true) {
        case .event(.armed): phase = .armed(confirmed: true)
        // Awaiting the touch will find the signal pending, and cancel.
        case .signal: phase = .armed(confirmed: false)
        case .event(.failed(let problem)):
            end()
            throw problem
        case .deadline:
            abandon()
            throw .timedOut
        case .event: throw refuse()
        }
    }

    package mutating func awaitTouch<Watch: FieldWatch & ~Copyable>(
        seconds: Int, beside watch: inout Watch
    ) -> Touch {
        guard case .armed(var confirmed) = phase else { return .failed(refuse()) }
        phase = .opened
        var deadline = Deadline(seconds: max(0, min(seconds, SensorClient.touchSeconds)))
        /// Why the wait was cancelled, once it was.
        var ending: Touch?
        var sawFinger = false
        do throws(ReaderProblem) {
            while true {
                // After the cancel only the helper's answer counts.
                switch try next(until: deadline, watchingSignals: ending == nil) {
                case .event(.armed) where !confirmed: confirmed = true
                case .event(.fingerSeen) where confirmed && !sawFinger:
                    sawFinger = true
                    fingerSeen = true
                case .event(.matched(let index)) where confirmed && canMatch(index): return .matched(index: index)
                case .event(.notMatched) where confirmed: return .notRecognised
                case .event(.retry(let reason)) where confirmed:
                    fingerSeen = true
                    tryGoesOn = true
                    return withFinger(ending) ?? .retry(reason)
                case .event(.cancelled(let seen)):
                    guard let ending else { throw refuse() }
                    fingerSeen = fingerSeen || seen
                    return withFinger(ending) ?? .failed(refuse())
                case .event(.failed(let problem)):
                    end()
                    return .failed(problem)
                case .event: throw refuse()
                case .signal:
                    ending = .interrupted(fingerSeen: false)
                    deadline = try cancel()
                case .deadline:
                    guard ending == nil else { throw refuse() }
                    ending = .timedOut(fingerSeen: false)
                    deadline = try cancel()
                }
            }
        } catch {
            // Who interrupts a frozen helper wants to leave, and is not asked for more; the try stays charged.
            if case .interrupted = ending { return .interrupted(fingerSeen: true) }
            return .failed(error)
        }
    }

    /// The ending with what is known now of the finger.
    private func withFinger(_ ending: Touch?) -> Touch? {
        switch ending {
        case .timedOut: return .timedOut(fingerSeen: fingerSeen)
        case .interrupted: return .interrupted(fingerSeen: fingerSeen)
        default: return nil
        }
    }

    private func canMatch(_ index: Int) -> Bool {
        presence.indices.contains(index) && presence[index] != .missing
    }

    /// Asks the helper to stop; answers until when it must have answered.
    private mutating func cancel() throws(ReaderProblem) -> Deadline {
        try send(.cancel)
        return Deadline(milliseconds: SensorClient.cancelLimit)
    }

    package mutating func enroll(
        _ finger: Finger, userName: [UInt8], progress: (EnrollmentProgress) -> Void
    ) throws(ReaderProblem) -> EnrolledPrint? {
        guard phase == .opened, let reader = identity, signals.hold() else { throw refuse() }
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
                if problem != .storageFull, problem != .duplicate { end() }
                throw problem
            case .event: throw refuse()
            case .signal:
                isCancelled = true
                deadline = try cancel()
            case .deadline:
                abandon()
                throw isCancelled ? .helperFailed : .timedOut
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
        case .event(.failed(let problem)): throw problem
        case .deadline:
            abandon()
            throw .timedOut
        case .event, .signal: throw refuse()
        }
    }

    package mutating func startClosing() {
        guard helper != nil else { return }
        helper?.hangUp()
        phase = .closing
    }

    package mutating func close() { end() }

    package mutating func stopListening() { signals.release() }
}
