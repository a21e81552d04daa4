import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform

/// Whose prints on a chip are where fprintd keeps them.
@Suite(.enabled(if: isRoot, "needs root: both stores are root's")) struct FprintdChipTests {
    /// alice (1000) and bob (1001) have PINs of Signet's, carol has a print alone; all of them on one chip.
    private let fprintd: FprintdFolder
    private let store: TestFolder

    init() throws {
        fprintd = try FprintdFolder()
        store = try TestFolder()
        try makeStore(store)
        for (number, name) in ["alice", "bob", "carol"].enumerated() {
            try fprintd.put("\(name)/chip/0/7", Self.print(name).bytes)
            if name == "carol" { continue }
            let uid = UInt32(1000 + number)
            var records = try userStore(store.bytes, uid: uid, name: Array(name.utf8))
            try records.create(identity(uid: uid, name: Array(name.utf8)))
        }
    }

    private static func print(_ name: String, data: [UInt8]? = nil, onReader: Bool = true) -> FprintdPrint {
        FprintdPrint(driver: "chip", user: name, data: data ?? Array(name.utf8), onReader: onReader)
    }

    private func digest(_ print: FprintdPrint) throws -> Digest {
        let handle = print.bytes
        let digest = HandleDigest.of(handle: handle.span)
        return try #require(digest)
    }

    private func asAlice(elsewhere: Bool = true) throws -> UserStore {
        var records = try userStore(store.bytes)
        if elsewhere { records.elsewhere = fprintd.store }
        return records
    }

    /// Catches another user's print that is called foreign, a print of nobody's here that is called a user's, one that was
    /// exchanged in the settings and is still known, and an entry that gives Signet the right to delete fprintd's print.
    @Test func ofSignetsUsersTheyAreReadEachTime() throws {
        var records = try asAlice()
        let all = try ["alice", "bob", "carol"].map { try digest(Self.print($0)) }
        let index = try records.loadChipIndex()
        #expect(index.strangers(among: all) == [all[2]])
        #expect(index.entries.map(\.uid).sorted() == [1000, 1001] && index.loose.isEmpty)
        let next = Self.print("bob", data: [7])
        try fprintd.put("bob/chip/0/7", next.bytes)
        #expect(try records.loadChipIndex().strangers(among: [all[1], digest(next)]) == [all[1]])
        // One on the host is on no chip.
        try fprintd.put("bob/chip/0/7", Self.print("bob", onReader: false).bytes)
        #expect(try records.loadChipIndex().entries.map(\.uid) == [1000])

        try records.changeChipIndex { $0.settle(1000, index.entries) }
        #expect(!names(in: store.path).contains("chips"))
        var own = try asAlice(elsewhere: false)
        #expect(storeError { _ = try own.loadChipIndex() } == .fault(.chips, .missing))
        #expect(try own.surveyChipIndex(mending: true).leftovers.isEmpty)
    }

    /// Catches prints of a purged user that Signet had put on the chip before fprintd kept them, and that are foreign for ever.
    @Test func whatSignetKeptIsLeftOver() throws {
        var own = try asAlice(elsewhere: false)
        let handle = Self.print("older").bytes
        let entry = PrintEntry(
            finger: try #require(Finger(number: 7)),
            reader: ReaderIdentity(driver: Array("chip".utf8), device: Array("0".utf8)), onReader: true, enrolledAt: 1,
            template: 0..<handle.count)
        let set = EnrollmentSet(generation: 1, entries: [entry], templates: secret(handle))
        switch set {
        case .some(let set): try own.save(set)
        case .none: Issue.record("no set")
        }
        try own.changeChipIndex { $0.loosen([]) }
        #expect(try own.loadChipIndex().loose.isEmpty)
        var records = try asAlice()
        try records.loosenChipIndex()
        #expect(records.elsewhere != nil)
        #expect(try own.loadChipIndex().loose.map(\.digest) == [digest(Self.print("older"))])
    }

    /// Catches a left-over print that stays in the index, or is no left-over any more, because fprintd keeps the prints now;
    /// and one that fprintd keeps too, of a user with a PIN or without one, that is called left over.
    @Test func whatFprintdKeepsIsNotLeftOver() throws {
        func entry(_ uid: UInt32, _ print: FprintdPrint) throws -> ChipIndex.Entry {
            let handle = print.bytes
            return ChipIndex.Entry(
                uid: uid, isLoose: true,
                reader: ReaderIdentity(driver: Array("chip".utf8), device: Array("0".utf8)), digest: try digest(print),
                handle: handle)
        }
        try fprintd.put("root/chip/0/7", Self.print("root").bytes)
        let older = try entry(1000, Self.print("older"))
        let imported = try [entry(1000, Self.print("alice")), entry(0, Self.print("root"))]
        var own = try asAlice(elsewhere: false)
        try own.changeChipIndex { $0.loosen([older] + imported) }
        #expect(try own.surveyChipIndex(mending: false).leftovers.count == 3)
        var records = try asAlice()
        #expect(try records.surveyChipIndex(mending: true).leftovers == [older])
        try records.forgetLeftovers([older])
        #expect(records.elsewhere != nil)
        #expect(try own.loadChipIndex().entries.count == 2)
        #expect(try records.surveyChipIndex(mending: true).leftovers.isEmpty)
    }

    /// Catches a shortage of descriptors, which whoever starts the process can choose, that makes a print of bob's nobody's.
    @Test func aShortageIsNoForeignPrint() async throws {
        let (root, prints) = (store.path, fprintd.root)
        let bobs = try digest(Self.print("bob")).bytes
        await #expect(processExitsWith: .success) {
            [root = root as String, prints = prints as String, bobs = bobs as [UInt8]] in
            var records = try userStore(Array(root.utf8))
            records.elsewhere = FprintdStore(root: Array(prints.utf8), userName: alice)
            guard let digest = Digest(bobs.span) else { exit(10) }
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let free = dup(2)
            close(free)
            // One descriptor more at each step until the answer comes: descriptors that others left open may lie above
            // the first free one.
            var refused = 0
            var isAnswered = false
            while !isAnswered && refused < 4096 {
                limit.rlim_cur = rlim_t(Int(free) + refused)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                do throws(StoreError) {
                    require(try records.loadChipIndex().strangers(among: [digest]).isEmpty, 11)
                    isAnswered = true
                } catch {
                    require(error == .system(errno: EMFILE), 12)
                    refused += 1
                }
            }
            require(refused > 0 && isAnswered, 13)
        }
    }

    /// Catches somebody else's spoilt store that makes everybody's prints foreign, and an index that is spoilt and believed.
    @Test func whatCannotBeReadIsThatUsersAlone() throws {
        var records = try asAlice()
        try fprintd.put("alice/chip/0/8", bytes(40))
        chmod("\(fprintd.root)/bob", 0o777)
        #expect(try records.loadChipIndex().entries.map(\.uid) == [1000])
        var own = try asAlice(elsewhere: false)
        let older = try digest(Self.print("older"))
        try own.changeChipIndex { index in
            index.settle(
                1000,
                [
                    ChipIndex.Entry(
                        uid: 1000, isLoose: false,
                        reader: ReaderIdentity(driver: Array("chip".utf8), device: Array("0".utf8)), digest: older,
                        handle: [1])
                ])
        }
        let mixed = try records.loadChipIndex()
        #expect(mixed.loose.isEmpty)
        // Catches Signet's own older print that is told as one that fprintd's programs delete.
        #expect(mixed.entries.first { $0.digest == older }?.source == .signet)
        #expect(mixed.entries.filter { $0.digest != older }.map(\.source) == [.fprintd])
        try own.changeChipIndex { $0.loosen(allOf: 1000) }
        #expect(try records.loadChipIndex().loose.map(\.digest) == [older])
        var file = try read(store.sub("chips"))
        file[file.count - 1] ^= 1
        try overwrite(store.sub("chips"), file)
        #expect(storeError { _ = try records.loadChipIndex() } == .fault(.chips, .damaged))
    }
}
