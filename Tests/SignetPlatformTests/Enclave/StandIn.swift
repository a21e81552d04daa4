import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import SoftwareTPM
import Testing

/// A store, and a TPM that is a folder beside it; the helper is a real process.
final class StandIn: Sendable {
    let folder: TestFolder
    let root: String
    let tpm: String

    /// Which helper is talked to, and what it is told of the TPM.
    let program: String
    let interface: String

    static let helper = copy(of: "enclave-stand-in")
    /// The real one.
    static let realHelper = copy(of: "signet-enclave")

    /// A built program in a folder that is root's alone, which goes with the process; nil where it is not built.
    private static func copy(of name: String) -> String? {
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { package.deleteLastPathComponent() }
        let build = ProcessInfo.processInfo.environment["SIGNET_BUILD"] ?? package.path + "/.build/debug"
        let copy = StandIn.copyFolder + "/" + name
        mkdir(StandIn.copyFolder, 0o755)
        guard (try? FileManager.default.copyItem(atPath: build + "/" + name, toPath: copy)) != nil else { return nil }
        atexit { try? FileManager.default.removeItem(atPath: StandIn.copyFolder) }
        return copy
    }

    private static let copyFolder = "/run/signet-stand-in-\(getpid())"

    /// Why the tests cannot run here, or nil.
    static let obstacle: String? =
        !isRoot ? "needs root: everything in a store is root's" : helper == nil ? "enclave-stand-in is not built" : nil

    /// Why the tests with the real helper cannot run here, or nil.
    static let realObstacle: String? =
        obstacle ?? SoftwareTPM.obstacle ?? (realHelper == nil ? "signet-enclave is not built" : nil)

    convenience init() throws { try self.init(StandIn.helper, nil) }

    /// With the real helper and a software TPM, which serves one connection at a time.
    convenience init(_ software: SoftwareTPM) throws { try self.init(StandIn.realHelper, software.interface) }

    private init(_ program: String?, _ interface: String?) throws {
        folder = try TestFolder()
        root = folder.sub("signet")
        tpm = folder.sub("tpm")
        self.program = program ?? "/nonexistent"
        self.interface = interface ?? tpm
        try FileManager.default.createDirectory(atPath: tpm, withIntermediateDirectories: false)
    }

    var rootBytes: [UInt8] { Array(root.utf8) }

    func settings(_ preference: EnclavePreference = .prefer) -> EnclaveSettings {
        EnclaveSettings(preference: preference, tcti: Array(interface.utf8), helper: Array(program.utf8))
    }

    var timing: EnclaveTiming {
        var timing = EnclaveTiming()
        timing.patience = 5000
        timing.slots = folder.bytes + Array("/slots".utf8)
        return timing
    }

    @discardableResult func make(_ preference: EnclavePreference = .prefer) throws -> MadeStore {
        try StoreCreation.createStore(root: rootBytes, settings: settings(preference), timing: timing)
    }

    func open(_ preference: EnclavePreference = .prefer) throws -> OpenedStore {
        try StoreOpening.open(root: rootBytes, settings(preference), timing: timing)
    }

    /// Why the store does not open; nil where it does.
    func fault(_ preference: EnclavePreference = .prefer) -> StoreError? {
        storeError { _ = try open(preference) }
    }

    /// What the helper does wrong from now on: "load die", "open 4"; nothing: nothing.
    func misbehave(_ lines: String...) throws {
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: tpm + "/fault"))
    }

    /// The requests since the last look.
    func requests() -> [String] {
        let text = (try? String(contentsOfFile: tpm + "/log", encoding: .utf8)) ?? ""
        try? FileManager.default.removeItem(atPath: tpm + "/log")
        return text.split(separator: "\n").map(String.init)
    }

    /// As TPM2_Clear does it: all objects are another TPM's.
    func clear() { unlink(tpm + "/seed") }

    func attack(failures: UInt8, limit: UInt8, lockoutAuth: Bool) throws {
        try Data([failures, limit, lockoutAuth ? 1 : 0]).write(to: URL(fileURLWithPath: tpm + "/attack"))
    }

    var failures: UInt8 { (try? read(tpm + "/attack"))?.first ?? 0 }
    var files: [String] { names(in: root).filter { !$0.hasSuffix(".lock") } }

    func migrate(
        _ target: EnclaveKind, _ reached: @escaping (StoreMigration.Step) throws(StoreError) -> Void = { _ in }
    ) throws -> MigrationOutcome {
        var migration = try StoreMigration(root: rootBytes, settings: settings(), timing: timing, reached: reached)
        return try migration.run(to: target)
    }

    func store(uid: UInt32 = 1000, name: [UInt8] = alice) throws -> UserStore {
        try UserStore(root: rootBytes, uid: uid, userName: name, keys: open().takeKeys())
    }

    func vault() throws -> SodiumVault {
        let opened = try open()
        let values = try StoreValues(root: rootBytes, keys: opened.takeKeys())
        return SodiumVault(root: rootBytes, values: values, enclave: try open().takeEnclave())
    }
}
