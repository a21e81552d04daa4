import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets

/// Readers that do what a script says.
final class FakeSensor: FingerSensor {
    let disk: Disk
    let process: FakeProcess
    var present: [ReaderDescription]
    /// Readers that do not open, and why.
    var notOpening: [(reader: ReaderIdentity, problem: ReaderProblem)] = []
    /// Where prints are found that are not where their entries say, by position in the gallery.
    var presence: [Int: PrintPresence] = [:]
    /// What else the readers list, beside the gallery.
    var others: [Digest] = []
    /// So many of them that are nobody's here.
    var foreignPrints: Int {
        get { others.count }
        set { others = (0..<newValue).compactMap { try? Digest.stranger(UInt8($0)) } }
    }
    /// What touches come; when they are used up, nobody touches.
    var touches: [Touch]
    /// What enrolling shows and makes; nil: interrupted by a signal.
    var progress: [EnrollmentProgress] = []
    var enrolled: [UInt8]?
    private(set) var opened: [ReaderIdentity] = []
    private(set) var places: [ReaderPlace] = []
    private(set) var galleries: [[Int]] = []
    private(set) var arms = 0
    private(set) var waits: [Int] = []
    private(set) var deleted: [Int] = []
    private(set) var isOpen = false { didSet { process.hasReaderOpen = isOpen } }
    private(set) var isArmed = false
    /// Whether a finger lies on the reader whenever something happens at the field.
    var fingerLies = false
    /// What happened at the field while the reader was armed.
    private var setAside: FieldEvent?
    /// Whether a helper runs, which every authentication must have ended.
    private(set) var isRunning = false
    private var isClosing = false
    private(set) var stops = 0

    init(_ disk: Disk, _ process: FakeProcess, readers: [ReaderDescription], touches: [Touch] = []) {
        self.disk = disk
        self.process = process
        self.present = readers
        self.touches = touches
    }

    func prepare() {
        _ = process.begin(.prepare)
        if isRunning { disk.violated("started a second helper", by: process) }
        isRunning = true
    }

    /// What is asked of a helper needs one that was not told to end.
    private func asked(_ what: String) {
        disk.needsNoLock(what, process)
        if isClosing { disk.violated(what + " of a closing helper", by: process) }
        isRunning = true
    }

    var holder: [UInt8]?

    func readers<Watch: FieldWatch & ~Copyable>(beside watch: inout Watch) throws(SensorStop) -> [ReaderDescription] {
        asked("looked for readers")
        if process.begin(.readers) { throw .problem(process.readerProblem) }
        if let event = watch.attend() { throw .setAside(event) }
        return present
    }

    func open<Watch: FieldWatch & ~Copyable>(
        _ reader: ReaderIdentity, at place: ReaderPlace, for set: borrowing EnrollmentSet, gallery: [Int],
        beside watch: inout Watch
    ) throws(SensorStop) -> OpenedReader {
        asked("opened a reader")
        if isOpen { disk.violated("opened a reader while one was open", by: process) }
        if process.begin(.open) { throw .problem(process.readerProblem) }
        if let event = watch.attend() { throw .setAside(event) }
        opened.append(reader)
        places.append(place)
        galleries.append(gallery)
        for closed in notOpening where closed.reader == reader { throw .problem(closed.problem) }
        guard
            let description = present.first(where: { description in
                description.identity == reader && (place.path.isEmpty || description.place.path == place.path)
            })
        else { throw .problem(.noReader) }
        isOpen = true
        var found: [PrintPresence] = []
        for (position, index) in gallery.enumerated() {
            let place: PrintPresence =
                !set.entries[index].onReader ? .host : description.listsPrints ? .onReader : .unlistable
            found.append(presence[position] ?? place)
        }
        return OpenedReader(description: description, presence: found, others: others)
    }

    func arm<Watch: FieldWatch & ~Copyable>(beside watch: inout Watch) throws(ReaderProblem) {
        asked("armed")
        if process.begin(.arm) { throw process.readerProblem }
        if !isOpen { disk.violated("armed a closed reader", by: process) }
        process.holdsSignals = true
        isArmed = true
        arms += 1
        if let event = watch.attend() { setAside = event }
    }

    func awaitTouch<Watch: FieldWatch & ~Copyable>(seconds: Int, beside watch: inout Watch) -> Touch {
        asked("waited for a touch")
        let fails = process.begin(.awaitTouch)
        if process.isKilled { return .failed(.helperFailed) }
        if !isArmed { disk.violated("waited for a touch of an idle reader", by: process) }
        isArmed = false
        waits.append(seconds)
        if let event = setAside ?? watch.attend() {
            setAside = nil
            if fingerLies { counted() }
            return .setAside(event, fingerSeen: fingerLies)
        }
        let touch = fails ? .failed(process.readerProblem) : touches.isEmpty ? nil : touches.removeFirst()
        switch touch {
        case .matched:
            counted()
            process.evidence.append(.comparedRight(.finger))
        case .notRecognised, .timedOut(fingerSeen: true), .interrupted(fingerSeen: true), .slept(fingerSeen: true),
            .cancelIgnored(fingerSeen: true), .failed:
            counted()
        case .retry, .timedOut, .interrupted, .setAside, .slept, .cancelIgnored, nil: break
        }
        return touch ?? .timedOut(fingerSeen: false)
    }

    private func counted() {
        disk.wasTouched(process)
        process.compared.append(.finger)
    }

    func enroll(
        _ finger: Finger, userName: [UInt8], progress show: (EnrollmentProgress) -> Void
    ) throws(ReaderProblem) -> EnrolledPrint? {
        asked("enrolled")
        if process.begin(.enroll) { throw process.readerProblem }
        guard isOpen, let reader = opened.last else { throw .noReader }
        for event in progress { show(event) }
        guard let enrolled else { return nil }
        guard let template = SecretBytes(copying: enrolled.span) else { throw .faulty }
        let onReader = present.first { $0.identity == reader }?.storesPrints ?? false
        return EnrolledPrint(reader: reader, onReader: onReader, template: template)
    }

    func deleteFromReader(index: Int) throws(ReaderProblem) {
        if process.begin(.deleteFromReader) { throw process.readerProblem }
        deleted.append(index)
    }

    func startClosing() {
        _ = process.begin(.startClosing)
        isClosing = isRunning
        isArmed = false
    }

    func close() {
        _ = process.begin(.close)
        isRunning = false
        isClosing = false
        isOpen = false
        isArmed = false
    }

    func stopListening() {
        _ = process.begin(.stopListening)
        process.holdsSignals = false
        stops += 1
    }
}
