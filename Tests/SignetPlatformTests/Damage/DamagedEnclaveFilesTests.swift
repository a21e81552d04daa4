import Foundation
import Proof
import SignetEngine
import SignetPlatform
import SignetRecords
import Testing

/// The files that tie a store to a TPM: cut, longer, exchanged, or no files.
@Suite(.serialized, .enabled(if: StandIn.obstacle == nil, Comment(rawValue: StandIn.obstacle ?? "")))
struct DamagedEnclaveFilesTests {
    let stage: StandIn

    init() throws {
        stage = try StandIn()
        try stage.make(.require)
    }

    /// Catches a file that is used although some of it is missing, too much, or another's.
    @Test(arguments: ["key.tpm", "enclave"]) func contents(_ name: String) throws {
        let path = "\(stage.root)/\(name)"
        let valid = try read(path)
        let other = try StandIn()
        try other.make(.require)
        var tally = Tally("damage: \(name) changed, cut at each length, longer, exchanged")
        func check(_ bytes: [UInt8], _ what: String, _ expected: StoreError...) throws {
            try overwrite(path, bytes)
            let fault = stage.fault()
            tally.check(fault.map { expected.contains($0) } == true, "\(what): \(String(describing: fault))")
        }
        let damaged = StoreError.fault(.store, .damaged)
        for count in Proof.sample(of: valid.count, few: 40) {
            try check(Array(valid[..<count]), "length \(count)", damaged)
        }
        for more in [[0], [UInt8](repeating: 0xFF, count: 9000)] { try check(valid + more, "longer", damaged) }
        if name == "enclave" {
            for index in Proof.sample(of: valid.count, few: 30) {
                for mask: UInt8 in Proof.isWhole ? [0xFF] + (0..<8).map({ 1 << $0 }) : [0xFF] {
                    var changed = valid
                    changed[index] ^= mask
                    try check(changed, "byte \(index) ^ \(mask)", damaged)
                }
            }
        }
        // Another machine's: the TPM has another primary key, and the note is sealed under another master key.
        let foreign: RecordFault = name == "enclave" ? .foreign : .enclaveForeign
        try check(try read("\(other.root)/\(name)"), "another machine's", .fault(.store, foreign))
        for kind in ["key.tpm", "enclave", "values"] where kind != name {
            try check(try read("\(stage.root)/\(kind)"), "\(kind)", damaged)
        }
        try overwrite(path, valid)
        tally.check(stage.fault() == nil, "restored")
        tally.report()
    }

    /// Catches a link or an open file that is followed or read.
    @Test(arguments: ["key.tpm", "enclave"]) func places(_ name: String) throws {
        let path = "\(stage.root)/\(name)"
        let aside = stage.folder.sub("aside")
        var status = stat()
        stat(path, &status)
        let mode = status.st_mode & 0o7777
        var tally = Tally("damage: links, pipes, folders, owners, modes in the place of \(name)")
        func check(_ what: String) {
            let fault = stage.fault()
            tally.check(fault == .fault(.store, .unsafe), "\(what): \(String(describing: fault))")
        }
        rename(path, aside)
        symlink(aside, path)
        check("a link")
        unlink(path)
        symlink("/nonexistent", path)
        check("a link to nowhere")
        unlink(path)
        mkfifo(path, 0o600)
        check("a pipe")
        unlink(path)
        mkdir(path, 0o700)
        check("a folder")
        rmdir(path)
        mknod(path, S_IFSOCK | 0o600, 0)
        check("a socket")
        unlink(path)
        rename(aside, path)
        for bit: mode_t in [0o001, 0o002, 0o004, 0o010, 0o020, 0o040] {
            chmod(path, mode | bit)
            check("mode \(String(mode | bit, radix: 8))")
        }
        chmod(path, mode)
        chown(path, 1000, 0)
        check("somebody's")
        chown(path, 0, 0)
        tally.check(stage.fault() == nil, "restored")
        tally.report()
    }

    /// Catches a store that falls back to a file, or to no note, where one of the two is gone.
    @Test func missing() throws {
        let aside = stage.folder.sub("aside")
        rename("\(stage.root)/key.tpm", aside)
        // Nothing says any more that there was a TPM; but nobody's records open under a key that is not there.
        #expect(stage.fault() == .fault(.store, .missing))
        mkdir("\(stage.root)/users/1000", 0o700)
        #expect(stage.fault() == .fault(.store, .keyLost))
        #expect(storeError { try stage.make() } == .fault(.store, .keyLost))
        rename(aside, "\(stage.root)/key.tpm")
        // Without the note the TPM's key alone counts.
        unlink("\(stage.root)/enclave")
        #expect(stage.fault() == nil)
    }
}
