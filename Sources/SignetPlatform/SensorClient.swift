internal import CPlatform
internal import SignetEngine
package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// The fingerprint readers, through a helper process of which nothing is believed that does not fit.
///
/// Whatever it waits for, it attends to an open field meanwhile.
package struct SensorClient: ~Copyable {
    private let path: [UInt8]
    private let arguments: [[UInt8]]
    /// Where readers are claimed; nil where nobody is to know.
    let claims: [UInt8]?
    /// When a reader that fails rests; nil where a person waits for it, who is no loop.
    let rest: ReaderRest?
    package internal(set) var isResting = false
    /// Seconds for listing, opening and arming each.
    let openSeconds: Int

    var helper: HelperProcess?
    var signals = HeldSignals()
    var phase = Phase.idle
    /// Where each print of the gallery is; a match must name one that the reader can have compared.
    var presence: [PrintPresence] = []
    var identity: ReaderIdentity?
    /// The one that was open last.
    package internal(set) var lastOpened: ReaderIdentity?
    /// The template of an `enrolled` that has just come.
    var template: SecretBytes?
    /// A finger was seen since the try began; stays through retries, which belong to the same try.
    var fingerSeen = false
    /// The last touch was a retry.
    var tryGoesOn = false
    /// What happened at the field while the reader was armed; awaiting the touch answers it.
    var aside: FieldEvent?
    /// Counts from when something was asked of the reader.
    var sleep = SleepMeter()
    /// The reader that a sleep has cut off, until it is open again.
    var waking: Waking?
    package internal(set) var holder: [UInt8]?
    /// Whether it was another prompt's claim that made the reader busy last.
    var claimIsRefused = false
    /// What is put before /sys and /proc where whoever has a reader is looked for, for tests.
    var root: [UInt8] = []

    /// What the helper is doing.
    enum Phase: Equatable {
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
    /// Milliseconds in which a helper with an open reader closes it.
    static let closingGrace = 1000
    /// Milliseconds in which a helper ends that has not opened a reader, or not finished to.
    ///
    /// Nothing was charged or compared, and a person who has typed a PIN meanwhile must not be held up. A helper that
    /// looks after its socket is gone within a few; one that sits in a driver's synchronous call is killed. For the
    /// reader that is what a crash in the middle of opening is: the kernel closes the descriptor, takes back what was
    /// submitted and gives up the interface, so that nobody finds it busy. The device itself may stand in the middle of
    /// a driver's start-up; the next opening starts it from the beginning, or fails once and is reported as faulty. No
    /// print is written while a reader opens.
    private static let openingGrace = 100
    /// Milliseconds for which a field rests that was looked at and told nothing.
    ///
    /// A descriptor that stays readable, whoever is to blame, costs two hundred looks a second and no more.
    private static let fieldRest: Int32 = 5

    /// The helper that is installed; the configuration may name another.
    package static var standardHelper: [UInt8] { Array("/usr/libexec/signet/signet-sensor".utf8) }

    /// The folder of the claims: gone after a boot, like whoever has one.
    package static var standardClaims: [UInt8] { Array("/run/signet".utf8) }

    /// Takes the helper's absolute path, the arguments after its name, the seconds a reader may take to open, and the
    /// folder where readers are claimed, which is made at need; nil: none is claimed.
    ///
    /// `rest` is for programs that may ask again and again by themselves.
    package init(
        helper path: [UInt8], arguments: [[UInt8]] = [], openSeconds: Int,
        claims: [UInt8]? = SensorClient.standardClaims, rest: ReaderRest? = nil
    ) {
        self.rest = rest
        self.path = path
        self.arguments = arguments
        self.claims = claims
        self.openSeconds = max(1, min(openSeconds, 60))
    }

    /// A packet, read.
    private struct Answer: ~Copyable {
        let event: SensorEvent?
        /// The template of `enrolled`.
        var template: SecretBytes?
    }

    /// What a wait ended with.
    private enum Happening {
        case ready
        case field(FieldEvent)
        case signal
        case sleep
        case deadline
    }

    enum Reply {
        case event(SensorEvent)
        /// Something happened at the field.
        case field(FieldEvent)
        case signal
        /// The machine has slept, where that is watched.
        case sleep
        case deadline
    }

    /// Starts a helper, unless there is one that has opened nothing.
    mutating func start() throws(ReaderProblem) {
        if phase != .idle { end() }
        if helper != nil { return }
        do throws(HelperFailure) {
            helper = try HelperProcess(path: path, arguments: arguments, packetLimit: SensorMessage.packetLimit)
            helper?.grace = SensorClient.openingGrace
        } catch {
            throw .helperFailed
        }
    }

    /// Kills a helper that does not behave.
    mutating func abandon() {
        helper?.kill()
        helper = nil
        end()
    }

    mutating func end() {
        // One that has opened nothing has no reader to close, and says nothing.
        if phase == .closing || phase == .opened {
            helper?.takeLeave { packet in (try? SensorEvent(decoding: packet)) == .closed }
        }
        helper = nil
        template = nil
        phase = .idle
        presence = []
        identity = nil
        aside = nil
    }

    /// The answer is not one that may come now.
    mutating func refuse() -> ReaderProblem {
        abandon()
        return .helperFailed
    }

    /// Sends a small request, for which a living helper's socket always has room.
    mutating func send(_ request: SensorRequest) throws(ReaderProblem) {
        let none: [UInt8] = []
        var nothing = NoField()
        do throws(SensorStop) { try send(request, templateFrom: none.span, beside: &nothing) } catch {
            throw .helperFailed
        }
    }

    mutating func send<Watch: FieldWatch & ~Copyable>(
        _ request: SensorRequest, templateFrom source: Span<UInt8>, beside watch: inout Watch
    ) throws(SensorStop) {
        let deadline = Deadline(milliseconds: SensorClient.sendLimit)
        while true {
            do throws(HelperFailure) {
                let done = try helper?.sendAtOnce { packet in try? request.encode(templateFrom: source, into: &packet) }
                guard let done, !deadline.hasPassed || done else { throw HelperFailure.stalled }
                if done { return }
            } catch {
                throw .problem(refuse())
            }
            switch wait(for: .room, until: deadline, beside: &watch, watchingSignals: false) {
            case .field(let event): throw setAside(event)
            case .ready, .deadline, .signal, .sleep: break
            }
        }
    }

    /// Waits for the helper, the field, a signal or the deadline.
    ///
    /// A signal that the field holds back is the field's to see.
    private mutating func wait<Watch: FieldWatch & ~Copyable>(
        for readiness: HelperProcess.Readiness, until deadline: Deadline, beside watch: inout Watch,
        watchingSignals: Bool, sleep: SleepMeter? = nil
    ) -> Happening {
        var rests = false
        while true {
            var other = HelperProcess.Surroundings()
            if rests {
                other.patience = SensorClient.fieldRest
            } else {
                other.keys = watch.keys
                other.fieldSignals = watch.signals
                other.patience = watch.patience
            }
            if watchingSignals, watch.signals < 0 { other.signals = signals.descriptor }
            other.sleep = sleep
            switch helper?.wait(for: readiness, until: deadline, beside: other) {
            // Without a helper the next step finds that there is none.
            case nil, .ready: return .ready
            case .signal: return .signal
            case .sleep: return .sleep
            case .deadline: return .deadline
            case .field where rests: rests = false
            case .field:
                if let event = watch.attend() { return .field(event) }
                rests = true
            }
        }
    }

    /// The helper's next event, what happened at the field, a signal where they are watched, a sleep since what `sleep`
    /// says, or the deadline.
    ///
    /// A helper that is gone or speaks nonsense is ended.
    mutating func next<Watch: FieldWatch & ~Copyable>(
        until deadline: Deadline, beside watch: inout Watch, watchingSignals: Bool, sleep: SleepMeter? = nil
    ) throws(ReaderProblem) -> Reply {
        switch wait(for: .packet, until: deadline, beside: &watch, watchingSignals: watchingSignals, sleep: sleep) {
        case .field(let event): return .field(event)
        case .signal: return .signal
        case .sleep: return .sleep
        case .deadline: return .deadline
        case .ready: break
        }
        do throws(HelperFailure) {
            let answer = try helper?.receive { packet in SensorClient.read(packet) }
            guard let answer, let event = answer.event else { throw HelperFailure.nonsense }
            template = answer.template
            return .event(event)
        } catch {
            throw refuse()
        }
    }

    /// As `next`, with no field beside it.
    mutating func next(until deadline: Deadline, watchingSignals: Bool) throws(ReaderProblem) -> Reply {
        var nothing = NoField()
        return try next(until: deadline, beside: &nothing, watchingSignals: watchingSignals)
    }

    private static func read(_ packet: Span<UInt8>) -> Answer {
        guard let event = try? SensorEvent(decoding: packet) else { return Answer(event: nil, template: nil) }
        guard case .enrolled(let place, _) = event else { return Answer(event: event, template: nil) }
        return Answer(event: event, template: SecretBytes(copying: packet.extracting(place)))
    }

    /// Something happened at the field before a finger was charged: the helper goes by itself.
    mutating func setAside(_ event: FieldEvent) -> SensorStop {
        startClosing()
        return .setAside(event)
    }
}

extension SensorClient: FingerSensor {
    package mutating func startClosing() {
        guard helper != nil, phase != .closing else { return }
        helper?.hangUp()
        phase = .closing
    }

    package mutating func close() { end() }

    package mutating func stopListening() { signals.release() }
}
