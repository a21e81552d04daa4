import Foundation
import Proof
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// A store of two users whose records have an older version, and the same users' records on another machine.
final class DamageStage {
    /// The files that damage is done to, each of which alone decides something.
    enum File: String, CaseIterable, Sendable {
        case key, values
        case identity = "users/1000/identity"
        case attempts = "users/1000/attempts"
        case prints = "users/1000/prints"

        /// Which record the fault is told of.
        var kind: RecordKind {
            switch self {
            case .key: .store
            case .values: .values
            case .identity: .identity
            case .attempts: .attempts
            case .prints: .prints
            }
        }

        /// The same file of the user `bob`; nil where it is everybody's.
        var ofBob: String? {
            rawValue.hasPrefix("users/") ? rawValue.replacingOccurrences(of: "1000", with: "1001") : nil
        }
    }

    let folder: TestFolder
    let another: TestFolder
    /// What each file holds, and what it held before the last change of the identity.
    private(set) var valid: [File: [UInt8]] = [:]
    private(set) var older: [File: [UInt8]] = [:]
    /// How the undamaged store reads.
    private(set) var intact = Sight()

    static let bob = Array("bob".utf8)
    /// The counters of the older slot and of the newer one.
    static let before = counters(pin: 2)
    static let now = counters(pin: 3)

    static func counters(pin: UInt8, finger: UInt8 = 1) -> Attempts {
        var attempts = Attempts()
        attempts.pin.byPerson = pin
        attempts.finger.count = finger
        attempts.generation = 5
        attempts.lastPIN = BootInstant(boot: BootIdentity(high: 7, low: 8), seconds: 77)
        attempts.change = EnrollmentChange(added: 1, removed: 0)
        return attempts
    }

    static func record(uid: UInt32, name: [UInt8], changed: Int64) -> IdentityRecord {
        var record = identity(uid: uid, name: name)
        let reader = ReaderIdentity(driver: Array("elan".utf8), device: Array("0".utf8))
        let digest = Digest(bytes(32, from: 9).span)!
        record.recovery = record.pin
        record.pinChangedAt = changed
        record.approvals = [
            Approval(
                reader: reader, place: .nowhere, generation: 5,
                prints: [ApprovedPrint(digest: digest, presence: .host)],
                signature: bytes(64), madeAt: 3)
        ]
        return record
    }

    init() throws {
        folder = try TestFolder()
        another = try TestFolder()
        for place in [another, folder] {
            try makeStore(place)
            for (uid, name) in [(1001, Self.bob), (1000, alice)] {
                var store = try Self.open(place, uid: UInt32(uid), name: name)
                try store.lock()
                try store.create(Self.record(uid: UInt32(uid), name: name, changed: 1))
                try store.save(enrollment(generation: 4))
                store.unlock()
            }
        }
        older = try contents()
        var store = try Self.open(folder, uid: 1000, name: alice)
        try store.lock()
        try store.save(Self.record(uid: 1000, name: alice, changed: 2))
        try store.save(enrollment(generation: 5))
        for attempts in [Self.counters(pin: 1), Self.before, Self.now] { try store.save(attempts) }
        store.unlock()
        valid = try contents()
        intact = look()
        guard intact.faults.isEmpty, intact.attempts == Self.now, intact.generation == 5 else {
            throw StoreError.fault(.store, .damaged)
        }
    }

    private func contents() throws -> [File: [UInt8]] {
        var contents: [File: [UInt8]] = [:]
        for file in File.allCases { contents[file] = try read(path(file)) }
        return contents
    }

    private static func open(_ place: TestFolder, uid: UInt32, name: [UInt8]) throws -> UserStore {
        let opened = try StoreOpening.open(root: place.bytes, EnclaveSettings(preference: .file))
        return try UserStore(root: place.bytes, uid: uid, userName: name, keys: opened.takeKeys())
    }

    func path(_ file: File) -> String { folder.sub(file.rawValue) }
    func written(in file: File) -> [UInt8] { valid[file] ?? [] }

    /// Which of the two slots was written last.
    var newestSlot: Int {
        let sealer = RecordSealer(masterKey: secret(written(in: .key)))!
        let file = written(in: .attempts)
        for slot in 0...1 {
            let span = file.span.extracting(slot * AttemptsFile.slotCount..<(slot + 1) * AttemptsFile.slotCount)
            guard case .usable(let record) = AttemptsFile.decode(span, uid: 1000, instance: nil, sealer: sealer)
            else { continue }
            if record.attempts == Self.now { return slot }
        }
        return -1
    }

    /// Writes a file in place; `restore` undoes it.
    func put(_ bytes: [UInt8], into file: File) throws { try overwrite(path(file), bytes) }
    func restore(_ file: File) throws { try put(written(in: file), into: file) }
}

/// All that an authentication could learn from a store.
struct Sight: Equatable {
    enum Part: Hashable { case store, identity, attempts, prints }

    var faults: [Part: StoreError] = [:]
    var identity: IdentityRecord?
    var attempts: Attempts?
    var isTorn = false
    var generation: UInt64?
    var entries: [PrintEntry] = []
    var templates: [[UInt8]] = []
    /// Whether counters could be written although they could not be read: that would set them to nothing.
    var isOverwritten = false
}

extension DamageStage {
    /// Opens the store as the module does, and reads all of it.
    func look() -> Sight {
        var sight = Sight()
        do throws(StoreError) {
            let keys = try StoreOpening.open(root: folder.bytes, EnclaveSettings(preference: .file)).takeKeys()
            _ = try StoreValues(root: folder.bytes, keys: keys)
            var store = try UserStore(root: folder.bytes, uid: 1000, userName: alice, keys: keys)
            try store.lock()
            do throws(StoreError) { sight.identity = try store.loadIdentity() } catch {
                sight.faults[.identity] = error
            }
            do throws(StoreError) {
                sight.attempts = try store.loadAttempts()
                sight.isTorn = store.attemptsWereTorn
            } catch {
                sight.faults[.attempts] = error
                sight.isOverwritten = (try? store.save(Attempts())) != nil
            }
            store.unlock()
            do throws(StoreError) {
                let set = try store.loadPrints()
                sight.generation = set.generation
                sight.entries = set.entries
                sight.templates = set.entries.map { entry in
                    set.withTemplate(of: entry) { span in (0..<span.count).map { span[$0] } }
                }
            } catch {
                sight.faults[.prints] = error
            }
        } catch {
            sight.faults[.store] = error
        }
        return sight
    }

    /// How the store must read when the record of this file has this fault and everything else is whole.
    func sight(with fault: StoreError, of file: File) -> Sight {
        var sight = intact
        switch file {
        case .key, .values:
            sight = Sight()
            sight.faults[.store] = fault
        case .identity:
            sight.identity = nil
            sight.faults[.identity] = fault
            sight.attempts = nil
            sight.faults[.attempts] = fault
        case .attempts:
            sight.attempts = nil
            sight.faults[.attempts] = fault
        case .prints:
            sight.generation = nil
            sight.entries = []
            sight.templates = []
            sight.faults[.prints] = fault
        }
        return sight
    }
}

/// Counts cases, and shows the first that fail.
struct Tally {
    let what: String
    private let began = Proof.now()
    private(set) var cases = 0
    private(set) var failed = 0

    init(_ what: String) { self.what = what }

    mutating func check(_ condition: Bool, _ message: @autoclosure () -> String) {
        cases += 1
        guard !condition else { return }
        failed += 1
        if failed <= 10 { Issue.record("\(what): \(message())") }
    }

    func report() {
        #expect(failed == 0 && cases > 0, "\(what): \(failed) of \(cases)")
        Proof.report(what, cases: cases, failed: failed, seconds: Proof.now() - began)
    }
}
