internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

/// The records that a table of readers is made of: the store is opened once, and of other users nothing is read unless a
/// reader asks for it that the index of prints in readers' memories says nothing of.
final class RecordsAtHand {
    private let configuration: Configuration
    private let asker: TargetUser?
    /// nil where it cannot be opened.
    private let opened: OpenedStore?

    init(_ configuration: Configuration, of asker: TargetUser?) {
        self.configuration = configuration
        self.asker = asker
        opened = try? StoreOpening.open(root: UserStore.standardRoot, configuration.enclaveSettings)
    }

    /// Which prints in readers' memories are whose; nil where that cannot be read now, so that nothing is called foreign.
    private(set) lazy var chips: ChipIndex? = {
        guard var store = store(uid: asker?.uid ?? 0, name: asker?.name ?? []) else { return ChipIndex() }
        do throws(StoreError) {
            let index = try store.loadChipIndex()
            if index.loose.isEmpty { return index }
            // What was to be deleted may be in a record still, for the task was refused: then it is nobody's leftover.
            return (try? store.surveyChipIndex(mending: false))?.index ?? index
        } catch {
            guard case .fault = error else { return nil }
            return (try? store.surveyChipIndex(mending: false))?.index ?? ChipIndex()
        }
    }()

    /// Where a reader was when it was approved: by who asks, else by everybody who did.
    func places(of reader: ReaderIdentity) -> [ReaderPlace] {
        if let place = own?.place(of: reader) { return [place] }
        return others.compactMap { $0.place(of: reader) }
    }

    /// Whether it keeps prints of who asks in its memory, whatever its driver says of it today.
    func liesOnChip(_ reader: ReaderIdentity) -> Bool { own?.readersOfChips.contains(reader) ?? false }

    /// How many prints who asks has for a reader.
    func yours(on reader: ReaderIdentity) -> Int { own?.count(on: reader) ?? 0 }

    /// How many prints all others have for a reader.
    func others(on reader: ReaderIdentity) -> Int { others.reduce(0) { $0 + $1.count(on: reader) } }

    // MARK: People

    /// What a user has: for which readers, and where those were approved.
    private struct Person {
        let readers: [ReaderIdentity]
        let readersOfChips: [ReaderIdentity]
        let places: [(reader: ReaderIdentity, place: ReaderPlace)]

        func place(of reader: ReaderIdentity) -> ReaderPlace? { places.first { $0.reader == reader }?.place }
        func count(on reader: ReaderIdentity) -> Int { readers.count { $0 == reader } }
    }

    private lazy var own: Person? = asker.flatMap { person(uid: $0.uid, name: $0.name) }

    /// Everybody else whose records can be read.
    private lazy var others: [Person] = {
        guard let owners = try? AdministratorLedger.owners() else { return [] }
        return owners.map { TargetUser($0) }.filter { $0.uid != asker?.uid }
            .compactMap { person(uid: $0.uid, name: $0.name) }
    }()

    private func person(uid: UInt32, name: [UInt8]) -> Person? {
        guard var store = store(uid: uid, name: name), let identity = try? store.loadIdentity() else { return nil }
        var prints: [PrintEntry] = []
        do throws(StoreError) { prints = try store.loadPrints().entries } catch {}
        return Person(
            readers: prints.map(\.reader), readersOfChips: prints.filter(\.onReader).map(\.reader),
            places: identity.approvals.map { ($0.reader, $0.place) })
    }

    private func store(uid: UInt32, name: [UInt8]) -> UserStore? {
        switch opened {
        case .none: return nil
        case .some(let opened):
            guard var store = try? UserStore(root: UserStore.standardRoot, uid: uid, userName: name, keys: opened.keys)
            else { return nil }
            if configuration.enrollmentSource == .fprintd { store.elsewhere = FprintdStore(userName: name) }
            return store
        }
    }
}
