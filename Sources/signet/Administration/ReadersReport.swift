internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// Whose prints there are for one reader.
struct ReaderPrints: Equatable {
    /// Those of whoever asks; nil where it is not clear who that is.
    var yours: Int?
    /// Those of Signet's other users.
    var others = 0
    /// Those in the reader's memory that no user of this machine has; nil where the reader cannot tell, or was not asked.
    var foreign: Int?
    /// Those that should be in the reader's memory and are not; nil as above.
    var missing: Int?
}

/// All that is to be said of one reader.
struct ReaderReport: Equatable {
    let description: ReaderDescription
    /// Why it is not used for where or what it is.
    let distrust: ReaderDistrust?
    /// Who has it open or claimed.
    let holders: [String]
    let prints: ReaderPrints

    var concern: ReaderConcern { ReaderAssessment.concern(about: description) }
}

/// Looks at each reader: where it is, who has it, and whose prints it holds.
struct ReadersSurvey {
    private let configuration: Configuration
    /// Who asks; nil where that is not clear.
    private let asker: TargetUser?

    init(_ configuration: Configuration, for asker: TargetUser?) {
        self.configuration = configuration
        self.asker = asker
    }

    func look(at readers: [ReaderDescription]) -> [ReaderReport] {
        let people = owners()
        let trust = ReaderTrust(configuration)
        return readers.map { reader in
            // The asker's own approval first, else anybody's: a reader has one place.
            let places = people.compactMap { person in
                person.places.first { $0.reader == reader.identity }.map { ($0.place, person.isAsker) }
            }
            let approved = (places.first { $0.1 } ?? places.first)?.0
            let distrust = trust.distrust(reader.place, approved: approved, onChip: reader.storesPrints)
            let holders = ReadersSurvey.holders(of: reader)
            var prints = ReaderPrints(yours: asker == nil ? nil : 0)
            for person in people {
                let count = person.entries.count { $0.reader == reader.identity }
                if person.isAsker { prints.yours = count } else { prints.others += count }
            }
            // Nobody's reader is taken away for a table, and what may be a false one is not talked to.
            if reader.listsPrints, distrust == nil, holders.isEmpty { count(&prints, on: reader, people) }
            return ReaderReport(description: reader, distrust: distrust, holders: holders, prints: prints)
        }
    }

    /// Signet's own prompts by their claim, everybody else by their descriptors.
    static func holders(of reader: ReaderDescription) -> [String] {
        do throws(ClaimRefusal) {
            _ = try ReaderClaim(reader.identity, in: SensorClient.standardClaims)
        } catch {
            if case .held(let words) = error { return [words.map { Output.text($0) } ?? "another prompt"] }
        }
        return DeviceHolders().names(of: reader.place).map { Output.text($0) }
    }

    // MARK: People

    /// A user with prints or approvals.
    private struct Person {
        let target: TargetUser
        let isAsker: Bool
        let entries: [PrintEntry]
        let places: [(reader: ReaderIdentity, place: ReaderPlace)]
    }

    /// Everybody whose records can be read.
    private func owners() -> [Person] {
        guard let owners = try? AdministratorLedger.owners() else { return [] }
        var people: [Person] = []
        for owner in owners {
            let target = TargetUser(owner)
            guard var ledger = try? AdministratorLedger.open(target, configuration),
                let identity = try? ledger.store.loadIdentity()
            else { continue }
            var entries: [PrintEntry] = []
            if let set = ledger.readablePrints() { entries = set.entries }
            people.append(
                Person(
                    target: target, isAsker: target.uid == asker?.uid, entries: entries,
                    places: identity.approvals.map { ($0.reader, $0.place) }))
        }
        return people
    }

    // MARK: The reader's memory

    /// Opens the reader once for each user who has prints in its memory; what is left is foreign.
    private func count(_ prints: inout ReaderPrints, on reader: ReaderDescription, _ people: [Person]) {
        var listed: Int?
        var known = 0
        var missing = 0
        for person in people where person.entries.contains(where: { $0.reader == reader.identity && $0.onReader }) {
            guard var ledger = try? AdministratorLedger.open(person.target, configuration),
                let set = ledger.readablePrints(), let opened = open(reader, for: set)
            else { return }
            let present = opened.presence.count { $0 == .onReader }
            known += present
            missing += opened.presence.count { $0 == .missing }
            listed = present + opened.foreignPrints
        }
        if listed == nil, let nothing = SecretBytes(count: 0),
            let empty = EnrollmentSet(generation: 0, entries: [], templates: nothing)
        {
            listed = open(reader, for: empty)?.foreignPrints
        }
        guard let listed else { return }
        prints.foreign = max(listed - known, 0)
        prints.missing = missing
    }

    private func open(_ reader: ReaderDescription, for set: borrowing EnrollmentSet) -> OpenedReader? {
        var sensor = Machine.sensor(configuration)
        defer {
            sensor.close()
            sensor.stopListening()
        }
        do throws(ReaderProblem) {
            return try sensor.open(
                reader.identity, at: reader.place, for: set, gallery: set.gallery(of: reader.identity))
        } catch {
            return nil
        }
    }
}
