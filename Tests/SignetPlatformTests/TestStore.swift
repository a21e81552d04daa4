import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// Why tests of the store are skipped for others: everything in it must be root's.
let isRoot = geteuid() == 0

/// A folder of a test's own, whose parents only root can change: /tmp would be refused, and rightly so.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        path = "/run/signet-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        guard mkdir(path, 0o700) == 0 else { throw POSIXError(.EACCES) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var bytes: [UInt8] { Array(path.utf8) }
    func sub(_ name: String) -> String { "\(path)/\(name)" }
}

/// `count` bytes that rise from `first`.
func bytes(_ count: Int, from first: UInt8 = 0) -> [UInt8] {
    (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
}

/// The bytes of a text of hexadecimal digits.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.span)! }
func content(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { span in (0..<span.count).map { span[$0] } }
}

/// The master key of the tests: 0, 1, … 31.
func masterKey() -> SecretBytes { secret(bytes(32)) }

let alice = Array("alice".utf8)

func userStore(
    _ root: [UInt8], uid: UInt32 = 1000, name: [UInt8] = alice, timing: LockTiming = LockTiming()
) throws -> UserStore {
    try UserStore(root: root, uid: uid, userName: name, masterKey: masterKey(), timing: timing)
}

/// A store with the tests' master key in place of a random one, so that copies to "another machine" can be made.
func makeStore(_ folder: TestFolder) throws {
    try StoreCreation.createStore(root: folder.bytes, settings: EnclaveSettings(preference: .file))
}

/// Counters with so many failures of the person's own.
func attempts(pin: UInt8, finger: UInt8) -> Attempts {
    var attempts = Attempts()
    attempts.pin.byPerson = pin
    attempts.finger.count = finger
    return attempts
}

func identity(uid: UInt32 = 1000, name: [UInt8] = alice, instance: UInt8 = 0x20) -> IdentityRecord {
    let wrapped = WrappedKey(cost: .floor, salt: bytes(16), nonce: bytes(24), sealed: bytes(80))!
    return IdentityRecord(
        uid: uid, userName: name, instance: bytes(16, from: instance), publicKey: bytes(32), pin: wrapped,
        recovery: nil,
        pinChangedAt: 1, recoveryMadeAt: 2, pinSetByAdministrator: false, approvals: [])
}

func enrollment(generation: UInt64 = 4) -> EnrollmentSet {
    let reader = ReaderIdentity(driver: Array("elan".utf8), device: Array("0".utf8))
    let entries = [
        PrintEntry(finger: Finger(number: 7)!, reader: reader, onReader: false, enrolledAt: 5, template: 2..<10),
        PrintEntry(finger: Finger(number: 2)!, reader: reader, onReader: true, enrolledAt: 6, template: 10..<14),
    ]
    return EnrollmentSet(generation: generation, entries: entries, templates: secret(bytes(16)))!
}

/// The store's error, or nil where `body` succeeds.
func storeError(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
        return nil
    } catch let error as StoreError {
        return error
    } catch {
        Issue.record("another error: \(error)")
        return nil
    }
}

func fileFault(_ body: () throws -> Void) -> FileFault? {
    do {
        try body()
        return nil
    } catch let error as FileFault {
        return error
    } catch {
        Issue.record("another error: \(error)")
        return nil
    }
}

func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

/// Overwrites a file in place, keeping owner and mode.
func overwrite(_ path: String, _ bytes: [UInt8]) throws {
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
}

func names(in path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
}

/// Ends a child process of an exit test with a number that says which expectation failed.
func require(_ condition: Bool, _ number: Int32) { if !condition { exit(number) } }

/// Starts a process that runs `body` and ends; Swift hides fork(2).
func startProcess(_ body: () throws -> Void) -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    let process = unsafeBitCast(dlsym(nil, "fork")!, to: Fork.self)()
    require(process >= 0, 60)
    guard process == 0 else { return process }
    do {
        try body()
        _exit(0)
    } catch {
        _exit(61)
    }
}

/// How a process ended: its exit status, or the negative number of the signal that killed it.
func end(of process: pid_t) -> Int32 {
    var status: Int32 = 0
    require(waitpid(process, &status, 0) == process, 62)
    return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
}

/// Sets RLIMIT_FSIZE, with the signal as deadly as it is in a program that does nothing about it.
func limitFileSize(to count: rlim_t) {
    signal(SIGXFSZ, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGXFSZ)
    require(pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0, 70)
    var limit = rlimit(rlim_cur: count, rlim_max: count)
    require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, 71)
}
