import SignetPolicy
import SignetRecords
import Testing

/// The index of prints in readers' memories: what each change leaves, and what can be asked of it.
@Suite struct ChipIndexTests {
    private func entry(_ uid: UInt32, _ first: UInt8) -> ChipIndex.Entry { Sample.chipEntry(uid: uid, first) }

    /// Catches a print of somebody's that is called foreign, and a foreign one that is called somebody's.
    @Test func strangersAreThoseWithoutAnEntry() {
        var index = ChipIndex()
        let digests = (0..<40).map { Sample.digest(from: UInt8($0)) }
        #expect(index.strangers(among: digests) == digests)
        for number in stride(from: 38, through: 0, by: -2) { index.loosen([entry(1000, UInt8(number))]) }
        index.settle(1000, (0..<20).filter { $0.isMultiple(of: 2) }.map { entry(1000, UInt8($0)) })
        #expect(
            index.strangers(among: digests)
                == digests.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element))
        #expect(index.loose.count == 10)
    }

    /// Catches a deletion that is forgotten when the record is written, or a print that stays loose after it came into one.
    @Test func settlingKeepsWhatIsLoose() {
        var index = ChipIndex()
        index.settle(1000, [entry(1000, 1), entry(1000, 2)])
        index.settle(1001, [entry(1001, 3)])
        index.loosen([entry(1000, 1), entry(1000, 4)])
        #expect(index.loose.map(\.digest) == [1, 4].map { Sample.digest(from: $0) })
        index.settle(1000, [entry(1000, 2), entry(1000, 4)])
        #expect(index.loose.map(\.digest) == [Sample.digest(from: 1)])
        #expect(index.entries.count == 4)
        index.remove(1000, Sample.digest(from: 1))
        index.settle(1000, [])
        #expect(index.entries == [entry(1001, 3)])
        index.loosen(allOf: 1001)
        #expect(index.loose.map(\.uid) == [1001])
    }

    /// Catches a print that is deleted because one user's deletion was cut off, while another's record has it.
    @Test func whatAnotherRecordHasIsNotLeftOver() {
        var index = ChipIndex()
        index.loosen([entry(1000, 1), entry(1000, 2)])
        index.settle(1001, [entry(1001, 1)])
        index.dropLooseTwins()
        #expect(index.loose == [Sample.chipEntry(uid: 1000, 2, isLoose: true)])
        #expect(index.entries.count == 2)
    }

    /// Catches an entry for another user among those that are settled, and a handle that no decoder would take.
    @Test func onlyWhatCanBeReadAgainGoesIn() throws {
        var index = ChipIndex()
        index.settle(1000, [entry(1001, 1)])
        index.loosen([Sample.chipEntry(uid: 1000, 2, handle: []), Sample.chipEntry(uid: 1000, 3, handle: bytes(1025))])
        #expect(index.entries.isEmpty)
        index.loosen([Sample.chipEntry(uid: 1000, 3, handle: bytes(1024))])
        let encoded = try index.encoded()
        #expect(try ChipIndex(decoding: encoded.span) == index)
    }

    /// Catches an index that grows until it cannot be written, and limits that the largest one does not keep.
    @Test func theLargestFits() throws {
        var index = ChipIndex()
        for number in 0..<ChipIndex.entryLimit + 5 {
            let hash = [UInt8(number >> 8), UInt8(number & 0xFF)] + bytes(30)
            let digest = Digest(hash.span)!
            index.loosen([
                ChipIndex.Entry(
                    uid: .max, isLoose: true, reader: ReaderIdentity(driver: bytes(64), device: bytes(128)),
                    digest: digest, handle: bytes(1024))
            ])
        }
        #expect(index.entries.count == ChipIndex.entryLimit)
        let encoded = try index.encoded()
        #expect(encoded.count <= ChipIndex.byteLimit)
        #expect(try ChipIndex(decoding: encoded.span) == index)
    }

    /// Catches two forms of one set: entries out of order, or two of one print of a user.
    @Test func entriesHaveOneOrder() throws {
        let golden = try Sample.chips.encoded()
        let head = Array(golden[..<4])
        let first = Array(golden[4..<(4 + 5 + 9 + 32 + 5)])
        let second = Array(golden[(4 + first.count)...])
        func refusal(of bytes: [UInt8]) -> RecordError? {
            failure { () throws(RecordError) in try ChipIndex(decoding: bytes.span) }
        }
        #expect(refusal(of: head + first + second) == nil)
        #expect(refusal(of: head + second + first) == .malformed)
        #expect(refusal(of: head + first + first) == .malformed)
    }
}
