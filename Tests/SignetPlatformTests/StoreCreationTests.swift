import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's")) struct StoreCreationTests {
    let folder: TestFolder
    let root: String

    init() throws {
        folder = try TestFolder()
        root = folder.sub("signet")
    }

    var rootBytes: [UInt8] { Array(root.utf8) }
    func create() -> StoreError? {
        storeError { try StoreCreation.createStore(root: rootBytes, settings: EnclaveSettings(preference: .file)) }
    }
    func readKey() -> StoreError? { storeError { _ = try FileEnclave.read(root: rootBytes) } }

    func mode(_ name: String) -> mode_t {
        var status = stat()
        stat("\(root)/\(name)", &status)
        return status.st_mode & 0o7777
    }

    /// Catches modes that are too open, a file that is missing, and a second call that replaces a key.
    @Test func makesAllAndNeverReplaces() throws {
        #expect(create() == nil)
        #expect(names(in: root) == ["key", "store.lock", "users", "values"])
        #expect([mode(""), mode("key"), mode("users"), mode("values")] == [0o700, 0o400, 0o700, 0o600])
        let key = try read("\(root)/key")
        let values = try read("\(root)/values")
        #expect(key.count == 32 && key != [UInt8](repeating: 0, count: 32))
        #expect(create() == nil)
        #expect(try read("\(root)/key") == key)
        #expect(try read("\(root)/values") == values)
        var enclave = FileEnclave(root: rootBytes)
        let master = content(try enclave.masterKey())
        #expect(master == key)
    }

    /// Catches a lost key or lost values that are replaced by new ones under the users' feet.
    @Test func lostKeysStayLost() throws {
        #expect(create() == nil)
        unlink("\(root)/values")
        #expect(create() == nil)
        mkdir("\(root)/users/1000", 0o700)
        unlink("\(root)/values")
        #expect(create() == .fault(.values, .missing))
        unlink("\(root)/key")
        #expect(create() == .fault(.store, .keyLost))
        // And it must not read as "no PIN was set yet".
        #expect(readKey() == .fault(.store, .keyLost))
        #expect(names(in: root) == ["store.lock", "users"])
    }

    /// Catches a store made in an unsafe place, or without its parent.
    @Test func unsafePlaces() throws {
        chmod(folder.path, 0o777)
        #expect(create() == .fault(.store, .unsafeAbove))
        chmod(folder.path, 0o755)
        #expect(
            storeError {
                try StoreCreation.createStore(
                    root: rootBytes + Array("/deeper".utf8), settings: EnclaveSettings(preference: .file))
            } == .fault(.store, .missing))
        mkdir(root, 0o755)
        #expect(create() == .fault(.store, .unsafe))
        #expect(names(in: root) == [])
    }

    /// Catches a key file that is accepted although others could know it, or that has not 32 bytes.
    @Test func keyFileIsChecked() throws {
        #expect(create() == nil)
        #expect(readKey() == nil)
        for mode: mode_t in [0o440, 0o404, 0o600 | 0o040] {
            chmod("\(root)/key", mode)
            #expect(readKey() == .fault(.store, .unsafe))
        }
        chmod("\(root)/key", 0o400)
        chown("\(root)/key", 65_534, 0)
        #expect(readKey() == .fault(.store, .unsafe))
        var enclave = FileEnclave(root: rootBytes)
        #expect(throws: EnclaveError.keyLost) { _ = try enclave.masterKey() }
        chown("\(root)/key", 0, 0)
        for count in [0, 31, 33] {
            try overwrite("\(root)/key", bytes(count))
            #expect(readKey() == .fault(.store, .damaged))
        }
        unlink("\(root)/key")
        symlink("/dev/zero", "\(root)/key")
        #expect(readKey() == .fault(.store, .unsafe))
        unlink("\(root)/key")
        #expect(readKey() == .fault(.store, .missing))
    }

    /// Catches values of another key or of no key that are used: every digest and every PIN would silently change.
    @Test func valuesAreChecked() throws {
        #expect(create() == nil)
        let key = try FileEnclave.read(root: rootBytes)
        func error(_ key: borrowing SecretBytes) -> StoreError? {
            do {
                _ = try SodiumVault(root: rootBytes, masterKey: key)
                return nil
            } catch { return error }
        }
        #expect([error(key)] == [nil])
        #expect([error(masterKey())] == [.fault(.values, .foreign)])
        let file = try read("\(root)/values")
        var changed = file
        changed[file.count - 1] ^= 1
        try overwrite("\(root)/values", changed)
        #expect([error(key)] == [.fault(.values, .damaged)])
        try overwrite("\(root)/values", Array(file.dropLast()))
        #expect([error(key)] == [.fault(.values, .damaged)])
        unlink("\(root)/values")
        #expect([error(key)] == [.fault(.values, .missing)])
    }

    /// Catches secrets that do not survive a new process: digests and PINs would hold for one boot only.
    @Test func vaultsAgree() throws {
        #expect(create() == nil)
        func digest() throws -> Digest {
            var vault = try SodiumVault(root: rootBytes, masterKey: FileEnclave.read(root: rootBytes))
            let bytes: [UInt8] = [1, 2, 3]
            return try vault.digest(of: bytes.span)
        }
        #expect(try digest() == digest())
    }

    /// Catches derivations for unknown users that run side by side: a hundred of them would take all memory.
    @Test func unknownUsersWaitForEachOther() async throws {
        #expect(create() == nil)
        let path = root
        await #expect(processExitsWith: .success) { [path = path as String] in
            let root = Array(path.utf8)
            let holder = startProcess {
                let lock = try FileLock(.unknownLock, in: SecureFolder(path: root))
                close(open("\(path)/ready", O_WRONLY | O_CREAT, 0o600))
                usleep(400_000)
                close(open("\(path)/done", O_WRONLY | O_CREAT, 0o600))
                _ = consume lock
            }
            while access("\(path)/ready", F_OK) != 0 { usleep(1000) }
            var vault = try SodiumVault(root: root, masterKey: FileEnclave.read(root: root))
            vault.spendTime(of: .floor, on: ConcealedSecret(secret([1])))
            require(access("\(path)/done", F_OK) == 0, 10)
            require(end(of: holder) == 0, 11)
        }
    }

    /// Catches a golden sealed file that is not opened: the format of all records, computed by another implementation.
    @Test func goldenSealedFile() throws {
        let sealer = RecordSealer(masterKey: masterKey())!
        let file = hex(
            """
            53474e540101e8030000c205529884989a660c4f7eb30a15b56f0500616c696365
            404142434445464748494a4b4c4d4e4f5051525354555657a054b82addcd895d1fa33e4173240a51594e6e24e9
            """)
        let header = sealer.header(.identity, uid: 1000, userName: alice)
        let opened = content(try sealer.open(file.span, header: header))
        #expect(opened == Array("hello".utf8))
    }
}
