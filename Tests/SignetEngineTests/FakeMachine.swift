import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets

/// The bytes of a print as libfprint serializes it: "FP3" and a little-endian GVariant of type `(issbymsmsia{sv}v)`.
///
/// `data` becomes the print's data, a variant of type `ay`; user name and description are absent.
func template(driver: [UInt8], device: [UInt8], data: [UInt8], finger: UInt8 = 7) -> [UInt8] {
    var body: [UInt8] = [1, 0, 0, 0]  // the driver's own form
    var ends: [Int] = []
    for name in [driver, device] {
        body += name + [0]
        ends.append(body.count)
    }
    body += [0, finger]
    ends += [body.count, body.count]
    while body.count % 4 != 0 { body.append(0) }
    body += [0, 0, 0, 0]  // the day of enrollment
    while body.count % 8 != 0 { body.append(0) }
    ends.append(body.count)
    body += data + [0] + Array("ay".utf8)
    // Offsets of members without a fixed size come last, the first member's at the very end.
    let size = body.count + ends.count <= 255 ? 1 : 2
    for end in ends.reversed() { body += (0..<size).map { UInt8(truncatingIfNeeded: end >> (8 * $0)) } }
    return Array("FP3".utf8) + body
}

extension ReaderIdentity {
    static func named(_ name: String) -> ReaderIdentity {
        ReaderIdentity(driver: Array(name.utf8), device: Array("0".utf8))
    }

    /// A reader whose prints lie on the host.
    static let inside = named("inside")
    /// Another one, plugged in.
    static let outside = named("outside")
    /// A reader that keeps prints in its own memory.
    static let chip = named("chip")
}

extension ReaderPlace {
    /// A port on the board, as the firmware says.
    static let builtIn = usb(.fixed, "9")
    /// A port that the firmware says nothing of.
    static let desktop = usb(.unknown, "3")
    /// A socket at the side.
    static let socket = usb(.removable, "1.4")

    static func usb(_ attachment: PortAttachment, _ port: String) -> ReaderPlace {
        ReaderPlace(bus: .usb, attachment: attachment, path: Array("pci0000:00/0000:00:14.0/usb2/\(port)".utf8))
    }
}

extension ReaderDescription {
    static func of(
        _ identity: ReaderIdentity, at place: ReaderPlace = .builtIn, keepsPrints: Bool = false, lists: Bool = true
    ) -> ReaderDescription {
        ReaderDescription(
            identity: identity, place: place, name: identity.driver, stages: 5, swipes: false, identifies: true,
            storesPrints: keepsPrints, listsPrints: keepsPrints && lists)
    }
}

/// A print to be put into a set.
struct Print: Equatable {
    var finger: UInt8
    var reader: ReaderIdentity
    var onReader = false
    var data: [UInt8]
}

extension Disk.Prints {
    /// The set with those prints, and `generation`.
    init(generation: UInt64, _ prints: [Print]) {
        self.init(generation: generation)
        for print in prints {
            let bytes = template(
                driver: print.reader.driver, device: print.reader.device, data: print.data, finger: print.finger)
            let range = templates.count..<(templates.count + bytes.count)
            templates += bytes
            guard let finger = Finger(number: print.finger) else { continue }
            entries.append(
                PrintEntry(
                    finger: finger, reader: print.reader, onReader: print.onReader, enrolledAt: 1, template: range))
        }
    }

    /// The set as the engine sees it.
    func set() throws -> EnrollmentSet {
        guard let bytes = SecretBytes(copying: templates.span),
            let set = EnrollmentSet(generation: generation, entries: entries, templates: bytes)
        else { throw FakeFailure() }
        return set
    }
}

struct FakeFailure: Error {}

func secret(_ text: String) throws -> SecretBytes {
    let bytes = Array(text.utf8)
    guard let secret = SecretBytes(copying: bytes.span) else { throw FakeFailure() }
    return secret
}

/// One machine with one user, alice, and whatever processes come.
final class Machine {
    static let alice = Array("alice".utf8)
    static let pin = "490273"
    static let wrong = "490274"

    let disk: Disk
    let time = ManualTime()
    /// nil: the secrets are bound to a file.
    var tpm: FakeTPM?
    var configuration = Configuration()
    var readers: [ReaderDescription] = [.of(.inside)]
    /// The recovery code that was made, as typed.
    private(set) var code: [UInt8] = []

    /// The records of alice, or of another user of the same machine.
    init(uid: UInt32 = 1000, beside other: Machine? = nil) {
        disk = Disk(uid: uid, chips: other?.disk.chips ?? FakeChips())
    }

    /// A machine with or without a TPM.
    convenience init(_ kind: EnclaveKind) {
        self.init()
        if kind == .tpm { tpm = FakeTPM(time) }
    }

    /// The same machine once more, to go another way from here.
    func copy() -> Machine {
        let other = Machine()
        other.disk.identity = disk.identity
        other.disk.chips.index = disk.chips.index
        other.disk.chips.fault = disk.chips.fault
        other.disk.bound = disk.bound
        other.disk.comparesIdentities = disk.comparesIdentities
        other.disk.prints = disk.prints
        other.disk.attempts = disk.attempts
        other.disk.damage = disk.damage
        other.disk.torn = disk.torn
        other.disk.guesses = disk.guesses
        other.time.boot = time.boot
        other.time.seconds = time.seconds
        other.time.wall = time.wall
        other.time.isUnreadable = time.isUnreadable
        other.tpm = tpm?.copy(other.time)
        other.configuration = configuration
        other.readers = readers
        other.code = code
        return other
    }

    /// Starts a process.
    func process(_ name: String = "sudo", isAdministrator: Bool = false) -> Actor {
        Actor(self, FakeProcess(name, isAdministrator: isAdministrator))
    }

    /// Whether the PIN lets in.
    func opens(with pin: String) -> Bool {
        if case .granted = process().authenticate([.types(pin)], closure: .switchedOff) { true } else { false }
    }

    /// Sets alice up as Signet's own commands do: a PIN, a recovery code, and prints that she approved.
    func setUp(
        prints: [Print] = [Print(finger: 7, reader: .inside, data: [1, 2, 3])], code withCode: Bool = true,
        byAdministrator: Bool = false
    ) throws {
        let actor = process("setup")
        var ledger = actor.ledger()
        let key = try ledger.makeIdentity(
            uid: disk.uid, userName: Machine.alice, pin: try actor.conceal(Machine.pin),
            byAdministrator: byAdministrator)
        if withCode {
            let made = try ledger.makeRecoveryCode(key: key)
            code = made.withBytes { span in (0..<span.count).map { span[$0] } }
        }
        // A borrowed optional parameter takes no plain value.
        let signingKey: SecretBytes? = consume key
        var known: [Print] = []
        for reader in ReaderIdentity.each(of: prints) {
            known += prints.filter { $0.reader == reader }
            let stored = Disk.Prints(generation: (disk.prints?.generation ?? 0) + 1, known)
            let gallery = known.indices.filter { known[$0].reader == reader }
            let present = readers.first { $0.identity == reader }
            let lists = present?.listsPrints ?? false
            let session = ReaderSession(
                reader: reader, place: present?.place ?? .builtIn, gallery: Array(gallery),
                presence: gallery.map { !known[$0].onReader ? .host : lists ? .onReader : .unlistable },
                generation: stored.generation)
            try ledger.savePrints(try stored.set(), approving: session, key: signingKey)
        }
    }
}

extension Actor {
    /// A typed PIN as the vault goes on with it.
    func conceal(_ pin: String) throws -> ConcealedSecret { try vault.conceal(secret(pin), for: .pin) }
}

extension ReaderIdentity {
    fileprivate static func each(of prints: [Print]) -> [ReaderIdentity] {
        var readers: [ReaderIdentity] = []
        for print in prints where !readers.contains(print.reader) { readers.append(print.reader) }
        return readers
    }
}

/// One process with all its ports.
final class Actor {
    let machine: Machine
    let process: FakeProcess
    let store: FakeStore
    let vault: FakeVault
    let clock: ManualClock
    let journal: MemoryJournal
    let sensor: FakeSensor
    let person: FakePerson

    init(_ machine: Machine, _ process: FakeProcess) {
        self.machine = machine
        self.process = process
        store = FakeStore(machine.disk, process)
        vault = FakeVault(machine.disk, process, tpm: machine.tpm)
        clock = ManualClock(machine.time, process)
        journal = MemoryJournal(process)
        sensor = FakeSensor(machine.disk, process, readers: machine.readers)
        person = FakePerson(machine.disk, process)
    }

    /// The ledger on this process's ports.
    func ledger(caller: CallerClass = .person) -> UserLedger<FakeStore, FakeVault, ManualClock, MemoryJournal> {
        UserLedger(
            store: store, vault: vault, time: clock, log: journal, configuration: machine.configuration, caller: caller)
    }

    /// Runs one authentication.
    func authenticate(
        _ answers: [Answer] = [], touches: [Touch] = [], caller: CallerClass = .person, exists: Bool = true,
        pin: Bool = true, terminal: Bool = true, field: [FieldMoment]? = nil, closure: FingerClosure? = nil,
        lidClosed: Bool = false
    ) -> Verdict {
        person.answers = answers
        person.moments = field ?? []
        sensor.touches = touches
        let request = AuthenticationRequest(
            configuration: machine.configuration, userExists: exists, userName: Machine.alice, pinAllowed: pin,
            terminal: terminal, field: field != nil,
            surroundings: FingerSurroundings(closure: closure, lidClosed: lidClosed))
        var authentication = Authentication(
            request, ledger: ledger(caller: caller), sensor: sensor, person: person)
        return authentication.run()
    }
}

extension Machine {
    /// An administrator's `delete --leftovers`, by a process that was prepared first.
    func deleteLeftovers(_ prepare: (Actor) -> Void = { _ in }) -> (LeftoversDeleted?, Actor) {
        let actor = process(isAdministrator: true)
        prepare(actor)
        let outcome = actor.run([]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.deleteLeftovers(on: &screen)
        }.outcome
        return (outcome, actor)
    }
}
