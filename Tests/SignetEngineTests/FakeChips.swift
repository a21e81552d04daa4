import SignetEngine
import SignetPolicy
import SignetRecords

/// The index of prints in readers' memories, as the real store keeps it: made anew from all users' prints where it is lost.
final class FakeChips {
    /// nil: there is no file.
    var index: ChipIndex?
    /// Why the file cannot be read.
    var fault: RecordFault?
    /// Why it is neither changed nor replaced.
    var stuck: RecordFault?
    var disks: [Unowned] = []

    /// A disk knows its index, so that the index must not keep the disk.
    struct Unowned { unowned let disk: Disk }

    func read() throws(StoreError) -> ChipIndex {
        if stuck == .newer { throw .fault(.chips, .newer) }
        if let fault { throw .fault(.chips, fault) }
        guard let index else { throw .fault(.chips, .missing) }
        return index
    }

    func change(_ change: (inout ChipIndex) -> Void) {
        var next = (try? read()) ?? scanned(beside: ChipIndex())
        change(&next)
        guard index != nil || fault != nil || next != ChipIndex() else { return }
        index = next
        fault = nil
    }

    /// What every writer does first.
    func requireWritable() throws(StoreError) { if let stuck { throw .fault(.chips, stuck) } }

    func survey(mending: Bool) -> ChipSurvey {
        let present = try? read()
        let should = scanned(beside: present ?? ChipIndex())
        let why = fault ?? (index == nil && should != ChipIndex() ? .missing : nil)
        if mending, should != present { change { $0 = should } }
        return ChipSurvey(
            fault: why, fits: why == nil && should == present ?? ChipIndex(), index: should, leftovers: should.loose)
    }

    private func scanned(beside present: ChipIndex) -> ChipIndex {
        var index = ChipIndex()
        index.loosen(present.loose)
        for disk in disks.map(\.disk) { index.settle(disk.uid, disk.chipEntries) }
        index.dropLooseTwins()
        return index
    }
}

extension Disk {
    /// What the index should say of the prints.
    var chipEntries: [ChipIndex.Entry] {
        guard let prints else { return [] }
        return prints.entries.filter(\.onReader).compactMap { entry in
            let handle = Array(prints.templates[entry.template])
            var identity = [UInt8](repeating: 0, count: handle.count + PrintTemplate.identityOverhead)
            var target = identity.mutableSpan
            guard let length = PrintTemplate.writeIdentity(of: handle.span, into: &target),
                let digest = try? FakeVault.handleDigest(Array(identity[..<length]))
            else { return nil }
            return ChipIndex.Entry(uid: uid, isLoose: false, reader: entry.reader, digest: digest, handle: handle)
        }
    }
}

extension Digest {
    /// The digest of a print that is nobody's here.
    static func stranger(_ number: UInt8) throws -> Digest {
        var bytes = [UInt8](repeating: 0, count: Digest.byteCount)
        bytes[31] = number
        guard let digest = Digest(bytes.span) else { throw FakeFailure() }
        return digest
    }
}
