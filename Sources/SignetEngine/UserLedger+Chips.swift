package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// The index of prints in readers' memories, which is one for all users: see `ChipIndex` for what it is good for, and for the
// order of writing. Where it cannot be read or written the journal is told, and everything else goes on; only where what
// lies in its place can be neither used nor replaced, or a later Signet wrote it, no record takes a print of a chip or lets
// one go, for nobody would know of that print again.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    // MARK: Whose prints are in a reader's memory

    /// Those of `others` that no user of Signet has, and that no deletion left; nil where the index cannot be read.
    package mutating func strangers(among others: [Digest]) -> [Digest]? {
        if others.isEmpty { return [] }
        do throws(StoreError) { return try store.loadChipIndex().strangers(among: others) } catch {
            tellOfIndex(error)
            return nil
        }
    }

    /// How many foreign prints came into a reader's memory since the user approved `approved`, at most 255; nil where that
    /// cannot be told now.
    ///
    /// The index is read only where something came. Where it is spoilt, nothing is called foreign, for a foreign print that
    /// is not told matches for nobody all the same; but where one is to close the finger path, all that came does, or
    /// whoever spoils the index would open it. A shortage says nothing of the prints, and whoever starts the process can
    /// choose it (`ulimit -n` before `su alice`): it must not be remembered.
    mutating func foreignPrints(among others: [Digest], beyond approved: [Digest]) -> UInt8? {
        let came = newcomers(others, approved)
        if came.isEmpty { return 0 }
        do throws(StoreError) {
            return UInt8(clamping: try store.loadChipIndex().strangers(among: came).count)
        } catch {
            tellOfIndex(error)
            guard case .fault = error else { return nil }
            return trust.foreignPrints == .close ? UInt8(clamping: came.count) : 0
        }
    }

    private func newcomers(_ others: [Digest], _ approved: [Digest]) -> [Digest] {
        others.filter { print in !approved.contains(print) }
    }

    /// One line for one ledger: an authentication looks several times.
    private mutating func tellOfIndex(_ error: StoreError) {
        if !indexFaultIsTold { _ = failed(error) }
        indexFaultIsTold = true
    }

    // MARK: Writing

    /// Before a record changes: what comes into it and what goes out of it is loose until that is done.
    ///
    /// Answers whether anything does; the user's lock must be held. Throws where nothing may.
    mutating func announceChips(
        from before: borrowing EnrollmentSet, to after: borrowing EnrollmentSet
    ) throws(LedgerFailure) -> Bool {
        guard let old = chipEntries(of: before), let new = chipEntries(of: after) else {
            // Which of them move nobody can say now: none of the user's must be called nobody's, wherever it ends up.
            let uid = store.uid
            try announce { $0.loosen(allOf: uid) }
            return true
        }
        let moving =
            old.filter { print in !new.contains { $0.digest == print.digest } }
            + new.filter { print in !old.contains { $0.digest == print.digest } }
        if moving.isEmpty { return false }
        try announce { $0.loosen(moving) }
        return true
    }

    /// A print has just come into a reader's memory, and no record has it yet.
    package mutating func announceChipPrint(_ print: borrowing EnrolledPrint) {
        guard print.onReader else { return }
        let handle = print.template.withBytes { bytes in ChipIndex.Entry.copy(bytes) }
        do throws(VaultError) {
            guard let entry = try chipEntry(print.reader, handle) else { return }
            changeIndex { $0.loosen([entry]) }
        } catch {
            _ = failed(error)
        }
    }

    /// All that the user has in readers' memories is loose before the record goes.
    ///
    /// Whoever has nothing there needs no index for it.
    mutating func announceChipsWithoutRecord() throws(LedgerFailure) {
        do throws(StoreError) { try store.loosenChipIndex() } catch {
            if error.isForAnAdministrator, hasNothingOnChips() {
                tellOfIndex(error)
            } else {
                try passOver(error)
            }
        }
    }

    /// Whether the record that is about to go says for certain that no reader's memory has a print of the user's.
    private mutating func hasNothingOnChips() -> Bool {
        guard keepsPrintsItself, let set = readablePrints() else { return false }
        for entry in set.entries where entry.onReader { return false }
        return true
    }

    /// Refuses where the index will not take a print that is about to be made in a reader's memory.
    mutating func requireIndex() throws(LedgerFailure) {
        do throws(StoreError) { try store.renewChipIndex() } catch { try passOver(error) }
    }

    private mutating func announce(_ change: (inout ChipIndex) -> Void) throws(LedgerFailure) {
        do throws(StoreError) { try store.changeChipIndex(change) } catch { try passOver(error) }
    }

    /// A shortage keeps nobody from deleting; what an administrator has to see to first does.
    private mutating func passOver(_ error: StoreError) throws(LedgerFailure) {
        if error.isForAnAdministrator { throw failed(error) }
        tellOfIndex(error)
    }

    /// After a record was written: the index says of the user what the record says.
    ///
    /// Where that cannot be told now the index stays as it is: an entry that is taken out makes a print nobody's.
    package mutating func settleChips() {
        guard let set = readablePrints(), let kept = chipEntries(of: set) else { return }
        let uid = store.uid
        changeIndex { $0.settle(uid, kept) }
    }

    /// The print at `index` has left its reader's memory.
    package mutating func forgetChipPrint(_ set: borrowing EnrollmentSet, _ index: Int) {
        do throws(VaultError) {
            guard let entry = try chipEntry(set, index) else { return }
            changeIndex { $0.remove(entry.uid, entry.digest) }
        } catch {
            _ = failed(error)
        }
    }

    mutating func forget(_ leftovers: [ChipIndex.Entry]) {
        if leftovers.isEmpty { return }
        do throws(StoreError) { try store.forgetLeftovers(leftovers) } catch { tellOfIndex(error) }
    }

    private mutating func changeIndex(_ change: (inout ChipIndex) -> Void) {
        do throws(StoreError) { try store.changeChipIndex(change) } catch { tellOfIndex(error) }
    }

    // MARK: Entries

    /// Those of a set; nil where the vault could not say which, which the journal is told.
    private mutating func chipEntries(of set: borrowing EnrollmentSet) -> [ChipIndex.Entry]? {
        var entries: [ChipIndex.Entry] = []
        do throws(VaultError) {
            for index in 0..<set.entries.count {
                if let entry = try chipEntry(set, index) { entries.append(entry) }
            }
            return entries
        } catch {
            _ = failed(error)
            return nil
        }
    }

    /// nil for a print on the host, and for one that cannot be read.
    private mutating func chipEntry(
        _ set: borrowing EnrollmentSet, _ index: Int
    ) throws(VaultError) -> ChipIndex.Entry? {
        let entry = set.entries[index]
        guard entry.onReader else { return nil }
        return try chipEntry(entry.reader, set.withTemplate(of: entry) { bytes in ChipIndex.Entry.copy(bytes) })
    }

    /// nil for what is no print in libfprint's form.
    private mutating func chipEntry(
        _ reader: ReaderIdentity, _ handle: [UInt8]?
    ) throws(VaultError) -> ChipIndex.Entry? {
        guard let handle else { return nil }
        var identity = [UInt8](repeating: 0, count: handle.count + PrintTemplate.identityOverhead)
        var target = identity.mutableSpan
        guard let length = PrintTemplate.writeIdentity(of: handle.span, into: &target) else { return nil }
        let digest = try vault.handleDigest(of: identity.span.extracting(0..<length))
        return ChipIndex.Entry(uid: store.uid, isLoose: false, reader: reader, digest: digest, handle: handle)
    }
}

extension StoreError {
    /// Whether an index that ends with this stays as it is until somebody has seen to it.
    fileprivate var isForAnAdministrator: Bool {
        switch self {
        case .fault(.chips, .unsafe), .fault(.chips, .stuck), .fault(.chips, .newer): true
        case .system(let number): LedgerFailure(errno: number) == .readOnly
        default: false
        }
    }
}

extension ChipIndex.Entry {
    /// A chip's handle is a name and nothing of a finger, so that it may lie in an array; nil where it is too long for one.
    fileprivate static func copy(_ handle: Span<UInt8>) -> [UInt8]? {
        guard handle.count <= handleLimit else { return nil }
        return (0..<handle.count).map { handle[$0] }
    }
}
