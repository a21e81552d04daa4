package import SignetEngine
internal import SignetPolicy
package import SignetRecords

// Whose the prints on a chip are where fprintd keeps them (`enrollment_source = fprintd`).
//
// Nothing of them is written into the index. Whoever may change the desktop's settings changes them at any time, so that an
// entry would be old by the next look; and an entry is a claim that Signet may take the print off the chip once no record has
// it, which it may not. So they are read from fprintd's store each time, as the user's own are; only where a chip lists what
// was not there at the approval, and of those alone who have a PIN of Signet's: a print of anybody else's is fprintd's,
// and so foreign.

extension UserStore {
    /// The index, and what fprintd keeps of Signet's users.
    package mutating func loadChipIndex() throws(StoreError) -> ChipIndex {
        guard elsewhere != nil else { return try ChipIndexFile.read(in: root, sealer) }
        var index = ChipIndex()
        do throws(StoreError) { index = try ChipIndexFile.read(in: root, sealer) } catch {
            // Nothing that Signet keeps itself lies on a chip.
            guard error == .fault(.chips, .missing) else { throw error }
        }
        return try withElsewhere(index)
    }

    /// The index, with what fprintd keeps of Signet's users where it keeps the prints.
    borrowing func withElsewhere(_ own: ChipIndex) throws(StoreError) -> ChipIndex {
        guard let elsewhere else { return own }
        var index = own
        for uid in try inStore({ () throws(FileFault) in try users.numbers() }).sorted() {
            guard let name = try claimedName(of: uid) else { continue }
            let kept = try elsewhere.turned(to: name).chipEntries(for: uid)
            if kept.isEmpty { continue }
            index.settle(uid, index.entries.filter { $0.uid == uid && !$0.isLoose } + kept)
        }
        return index
    }

    /// Those that fprintd does not keep for whom they were enrolled, where it keeps the prints.
    ///
    /// An imported print is in both stores; Signet's deletion of it must not take fprintd's off the chip. The user may have
    /// no PIN any more, so that the account says where to look.
    borrowing func notElsewhere(_ leftovers: [ChipIndex.Entry]) throws(StoreError) -> [ChipIndex.Entry] {
        guard let elsewhere else { return leftovers }
        var kept: [ChipIndex.Entry] = []
        var asked: [UInt32] = []
        for uid in leftovers.map({ $0.uid }) where !asked.contains(uid) {
            asked.append(uid)
            let account: Account?
            do throws(AccountsUnreadable) { account = try Accounts.numbered(uid) } catch {
                throw .system(errno: error.errno)
            }
            for name in [try claimedName(of: uid), account?.name].compactMap({ $0 }) {
                kept += try elsewhere.turned(to: name).chipEntries(for: uid)
            }
        }
        return leftovers.filter { left in !kept.contains { $0.digest == left.digest } }
    }

    /// By what name the user's PIN was set; it only says where to look, in a store that is root's.
    ///
    /// nil where there is none, or where the record is spoilt, which is that user's matter. Throws where it cannot be read now.
    private borrowing func claimedName(of uid: UInt32) throws(StoreError) -> [UInt8]? {
        do throws(FileFault) {
            let limit = IdentityRecord.byteLimit + RecordSealer.overhead
            let file = try users.folder(FileName(number: uid)).read(.identity, limit: limit)
            return SealedHeader.claimedName(in: file.span)
        } catch {
            if case .system(let number) = error { throw .system(errno: number) }
            return nil
        }
    }
}

extension FprintdStore {
    /// What of the user's lies in readers' memories, as far as it is fit to be read: what else is in the store closes that
    /// user's own finger path, and nobody else's.
    ///
    /// What only cannot be read now says nothing: without it a print of this user's would be called nobody's.
    package func chipEntries(for uid: UInt32) throws(StoreError) -> [ChipIndex.Entry] {
        let found = try read()
        if let shortage = found.problems.first(where: { $0.isShortage }) { throw shortage.storeError }
        let set = found.takeSet()
        var entries: [ChipIndex.Entry] = []
        for entry in set.entries where entry.onReader {
            let known = set.withTemplate(of: entry) { handle in
                ChipIndexFile.entry(uid, entry.reader, handle, from: .fprintd)
            }
            if let known { entries.append(known) }
        }
        return entries
    }
}
