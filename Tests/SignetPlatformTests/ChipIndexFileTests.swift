import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

@testable import SignetPlatform

/// The index of prints in readers' memories on a real disk: who may spoil it, and how it is made anew.
@Suite(.enabled(if: isRoot, "everything in the store must be root's"))
struct ChipIndexFileTests {
    private static let reader = ReaderIdentity(driver: Array("chip".utf8), device: Array("0".utf8))

    /// libfprint's form of a print of this reader with this data.
    private static func handle(_ data: UInt8) -> [UInt8] {
        var body: [UInt8] = [1, 0, 0, 0] + Array("chip\u{0}0\u{0}".utf8) + [1, 7]
        let ends = [9, 11, 13, 13, 24]
        while body.count % 4 != 0 { body.append(0) }
        body += [0, 0, 0, 0]
        while body.count % 8 != 0 { body.append(0) }
        body += [data, 0] + Array("ay".utf8)
        return Array("FP3".utf8) + body + ends.reversed().map { UInt8($0) }
    }

    static func set(_ data: [UInt8], onReader: Bool = true) -> EnrollmentSet {
        var templates: [UInt8] = []
        var entries: [PrintEntry] = []
        for number in data {
            let handle = handle(number)
            entries.append(
                PrintEntry(
                    finger: Finger(number: 7)!, reader: reader, onReader: onReader, enrolledAt: 1,
                    template: templates.count..<(templates.count + handle.count)))
            templates += handle
        }
        return EnrollmentSet(generation: 1, entries: entries, templates: secret(templates))!
    }

    static func entry(_ uid: UInt32, _ data: UInt8) throws -> ChipIndex.Entry {
        let handle = handle(data)
        let digest = HandleDigest.of(handle: handle.span)
        return ChipIndex.Entry(
            uid: uid, isLoose: false, reader: reader, digest: try #require(digest), handle: handle)
    }

    /// Two users with a print each on the chip, and a third with one on the host.
    static func prepared() throws -> TestFolder {
        let folder = try TestFolder()
        try makeStore(folder)
        for (uid, data) in [(UInt32(1000), UInt8(1)), (1001, 2)] {
            var store = try userStore(folder.bytes, uid: uid, name: Array("u\(uid)".utf8))
            try store.create(identity(uid: uid, name: Array("u\(uid)".utf8)))
            try store.save(ChipIndexFileTests.set([data]))
        }
        var third = try userStore(folder.bytes, uid: 1002, name: Array("u1002".utf8))
        try third.create(identity(uid: 1002, name: Array("u1002".utf8)))
        try third.save(ChipIndexFileTests.set([3], onReader: false))
        return folder
    }

    /// Catches a digest that is not SHA-256 as the helper makes it.
    @Test func theHashIsStandard() throws {
        let text = Array("abc".utf8)
        let digest = HandleDigest.of(identity: text.span)
        #expect(digest?.bytes == hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        let noise = bytes(40)
        let none = HandleDigest.of(handle: noise.span)
        #expect(none == nil)
    }

    /// Catches a shortage of memory that makes a print look like nobody's.
    @Test func shortMemoryIsNoForeignPrint() async {
        await #expect(processExitsWith: .success) {
            let handle = ChipIndexFileTests.handle(1)
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            switch SecretBytes(count: handle.count + 4096) {
            case .some: exit(10)
            case .none: break
            }
            let digest = HandleDigest.of(handle: handle.span)
            require(digest != nil, 11)
        }
    }

    /// Catches an index that is lost for good, or made anew with a user missing, a host's print in it, or what a
    /// deletion left gone.
    @Test(arguments: ["gone", "spoilt", "another kind's", "a bit of its header"]) func madeAnew(_ state: String) throws
    {
        let folder = try Self.prepared()
        var store = try userStore(folder.bytes, uid: 1000, name: Array("u1000".utf8))
        #expect(storeError { _ = try store.loadChipIndex() } == .fault(.chips, .missing))
        try store.changeChipIndex { $0.loosen([]) }
        let whole = try [ChipIndexFileTests.entry(1000, 1), ChipIndexFileTests.entry(1001, 2)]
        #expect(Set(try store.loadChipIndex().entries.map(\.uid)) == [1000, 1001])
        let path = folder.sub("chips")
        switch state {
        case "gone": unlink(path)
        case "spoilt":
            var file = try read(path)
            file[file.count - 1] ^= 1
            try overwrite(path, file)
        case "another kind's": try overwrite(path, try read(folder.sub("users/1000/prints")))
        default:
            var file = try read(path)
            file[10] ^= 1
            try overwrite(path, file)
        }
        let fault = storeError { _ = try store.loadChipIndex() }
        #expect(
            fault == .fault(.chips, state == "gone" ? .missing : .damaged))
        let survey = try store.surveyChipIndex(mending: false)
        #expect(survey.fault != nil && !survey.fits && survey.leftovers.isEmpty)
        #expect(storeError { _ = try store.loadChipIndex() } == fault, "a look changes nothing")
        let late = try ChipIndexFileTests.entry(1000, 9)
        try store.changeChipIndex { $0.loosen([late]) }
        let index = try store.loadChipIndex()
        #expect(index.loose.map(\.digest) == [late.digest] && index.entries.count == 3)
        for entry in whole { #expect(index.entries.contains(entry)) }
        #expect(try store.surveyChipIndex(mending: false).fits)
        #expect(try store.surveyChipIndex(mending: false).leftovers.map(\.digest) == [late.digest])
    }

    /// Catches a copy of an older index that stays in force, and what it says was deleted that a record has.
    @Test func anOlderCopyIsMended() throws {
        let folder = try Self.prepared()
        var store = try userStore(folder.bytes, uid: 1000, name: Array("u1000".utf8))
        let gone = try ChipIndexFileTests.entry(1001, 8)
        try store.changeChipIndex { index in
            index.settle(1001, [gone])
            index.loosen(allOf: 1000)
        }
        let survey = try store.surveyChipIndex(mending: true)
        #expect(!survey.fits && survey.leftovers.isEmpty)
        let index = try store.loadChipIndex()
        #expect(index.entries.count == 2 && index.loose.isEmpty)
        #expect(try store.surveyChipIndex(mending: false).fits)
        #expect(names(in: folder.path).contains("chips.lock"))
    }

    /// Catches a print that is deleted because nobody could read the record that has it.
    @Test func ofAnUnreadableRecordEverythingStays() throws {
        let folder = try Self.prepared()
        var store = try userStore(folder.bytes, uid: 1000, name: Array("u1000".utf8))
        try store.changeChipIndex { $0.loosen(allOf: 1001) }
        try overwrite(folder.sub("users/1001/prints"), bytes(80))
        let survey = try store.surveyChipIndex(mending: true)
        #expect(survey.fits && survey.leftovers.isEmpty)
        #expect(try store.loadChipIndex().loose.map(\.uid) == [1001])
    }

    /// Catches a store without chips that gets a file before somebody is about to enrol on one.
    @Test func withoutChipsThereIsNone() throws {
        let folder = try TestFolder()
        try makeStore(folder)
        var store = try userStore(folder.bytes)
        try store.changeChipIndex { $0.settle(1000, []) }
        #expect(!names(in: folder.path).contains("chips"))
        #expect(try store.surveyChipIndex(mending: true).fault == nil)
        // The proof that it can be written.
        try store.renewChipIndex()
        #expect(try store.loadChipIndex() == ChipIndex())
        let survey = try store.surveyChipIndex(mending: false)
        #expect(survey.fault == nil && survey.fits)
    }

    private enum Place: CaseIterable { case readable, writable, foreign, folder, fullFolder, pipe, link }

    /// Puts something else in the index's place; what others could write is an old copy, which says nothing of a print.
    private func spoil(_ folder: TestFolder, _ place: Place) throws {
        let path = folder.sub("chips")
        switch place {
        case .readable: chmod(path, 0o644)
        case .writable: chmod(path, 0o622)
        case .foreign: chown(path, 1234, 0)
        case .folder, .fullFolder:
            unlink(path)
            mkdir(path, 0o700)
            if place == .fullFolder { mkdir(path + "/something", 0o700) }
        case .pipe:
            unlink(path)
            mkfifo(path, 0o600)
        case .link:
            rename(path, folder.sub("elsewhere"))
            symlink(folder.sub("elsewhere"), path)
        }
    }

    /// Catches a print that is forgotten for good where something else lies in the index's place when its record goes;
    /// what others could write and is believed; and a link that is followed.
    @Test(arguments: Place.allCases) private func whatLiesInItsPlaceIsReplaced(_ place: Place) throws {
        let folder = try Self.prepared()
        var store = try userStore(folder.bytes, uid: 1000, name: Array("u1000".utf8))
        let left = try ChipIndexFileTests.entry(1000, 9)
        try store.changeChipIndex { $0.loosen([left]) }
        let old = try read(folder.sub("chips"))
        try spoil(folder, place)
        #expect(storeError { _ = try store.loadChipIndex() } == .fault(.chips, .unsafe))
        let survey = try store.surveyChipIndex(mending: false)
        #expect(survey.fault == .unsafe && survey.index.entries.count { !$0.isLoose } == 2)
        #expect(storeError { _ = try store.loadChipIndex() } == .fault(.chips, .unsafe), "a look changes nothing")
        // What is not believed is made anew from the records; what only was readable is whole.
        let known = place == .readable ? 1 : 0
        try store.loosenChipIndex()
        let index = try store.loadChipIndex()
        #expect(index.loose.count == 1 + known && index.entries.count == 2 + known)
        #expect(index.entries.contains { $0.uid == 1000 && $0.isLoose && $0.digest != left.digest })
        if place == .link { #expect(try read(folder.sub("elsewhere")) == old) }
        if place == .fullFolder { #expect(names(in: folder.path).contains("chips.old")) }
        try spoil(folder, place)
        if place == .fullFolder {
            // There is no second name for it.
            #expect(storeError { try store.loosenChipIndex() } == .fault(.chips, .unsafe))
            return
        }
        #expect(try store.surveyChipIndex(mending: true).fault == .unsafe)
        #expect(try store.surveyChipIndex(mending: false).fits)
    }

    /// Catches a lock that others could hold or a folder in its place, and a print that is forgotten for it.
    @Test func anUnsafeLockIsTold() throws {
        let folder = try Self.prepared()
        var store = try userStore(folder.bytes, uid: 1000, name: Array("u1000".utf8))
        mkdir(folder.sub("chips.lock"), 0o700)
        #expect(storeError { try store.loosenChipIndex() } == .fault(.chips, .unsafe))
        #expect(storeError { _ = try store.surveyChipIndex(mending: true) } == .fault(.chips, .unsafe))
    }

    /// Catches whoever holds a user's lock and waits for all the others' index until it is killed for it; and a look at all
    /// records that waits for a user's lock, so that the two wait for each other.
    @Test func nobodyWaitsLongForTheIndex() throws {
        #expect(2 * LockTiming().nestedWaitLimit <= LockTiming().holdLimit / 2)
        let folder = try Self.prepared()
        var timing = LockTiming()
        timing.nestedWaitLimit = 100
        var store = try userStore(folder.bytes, uid: 1000, name: Array("u1000".utf8), timing: timing)
        try store.changeChipIndex { $0.loosen([]) }
        try store.lock()
        let index = try FileLock(.chipsLock, in: SecureFolder(path: folder.bytes))
        var error: StoreError?
        let spent = ContinuousClock().measure {
            error = storeError { try store.changeChipIndex { $0.loosen(allOf: 1000) } }
        }
        #expect(error == .busy && spent < .seconds(10))
        _ = consume index
        // The user's lock is held all the while.
        var other = try userStore(folder.bytes, uid: 1001, name: Array("u1001".utf8), timing: timing)
        #expect(try other.surveyChipIndex(mending: true).fits)
        try store.changeChipIndex { $0.loosen(allOf: 1000) }
        #expect(try other.loadChipIndex().loose.map(\.uid) == [1000])
    }
}
