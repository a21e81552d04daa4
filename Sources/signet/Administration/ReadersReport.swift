internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

/// Whose prints there are for one reader.
struct ReaderPrints: Equatable {
    /// Those of whoever asks, without the gone ones where the reader was asked; nil where it is not clear who that is.
    var yours: Int?
    /// Those of Signet's other users.
    var others = 0
    /// Those in the reader's memory that are in no record any more; nil as below.
    var leftOver: Int?
    /// Those in the reader's memory that no user of this machine has; nil where the reader cannot tell, or was not asked.
    var foreign: Int?
    /// Whether the reader has more prints than it lists to Signet, so that there may be more foreign ones.
    var hasMore = false
    /// How many of the foreign ones fprintd keeps for whoever asks, so that they can be imported.
    var importable = 0
    /// For whom, as an option of a command; empty for the caller.
    var importOption = ""
    /// Those that should be in the reader's memory and are not; nil as above.
    var missing: Int?
    /// The same one by one.
    var gone: [GonePrint] = []
}

/// A print that is enrolled and gone from its reader's memory.
struct GonePrint: Equatable {
    /// The user's name, or the uid where there is no account.
    let user: String
    /// nil where the print does not say.
    let finger: Finger?
    let keeper: Keeper
    /// Whether it is a print of whoever asks.
    var isYours = false

    /// Who has the record that it is enrolled in, and can delete it there.
    enum Keeper: Equatable {
        case signet
        case fprintd
        /// Signet, from before the configuration chose fprintd: until it chooses Signet again no command changes that record.
        case signetBefore

        /// `kept` is what has the print, `now` what the configuration chooses.
        init(_ kept: EnrollmentSource, now: EnrollmentSource) {
            switch (kept, now) {
            case (.fprintd, _): self = .fprintd
            case (.signet, .signet): self = .signet
            case (.signet, .fprintd): self = .signetBefore
            }
        }
    }

    var words: String { finger.map { "\(user)'s \($0.name)" } ?? "one of \(user)'s" }

    /// How it is cleaned up.
    var remedy: String {
        let option = " --user \(ShellWord.quoted(Array(user.utf8)))"
        var deletion = GonePrints.remedy(finger.map { [$0] } ?? [], option)
        if finger == nil { deletion += ", by a name from \"sudo signet list\(option)\"" }
        return switch keeper {
        case .signet: deletion
        case .fprintd: GonePrints.remedyOfFprintd
        case .signetBefore: "Signet had it before fprintd: with \"enrollment_source = signet\", \(deletion)"
        }
    }
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
        let records = RecordsAtHand(configuration, of: asker)
        let trust = ReaderTrust(configuration)
        return readers.map { reader in
            let distrust = trust.distrust(
                reader.place, approved: records.places(of: reader.identity),
                onChip: reader.storesPrints || records.liesOnChip(reader.identity))
            let holders = ReadersSurvey.holders(of: reader)
            var prints = ReaderPrints(yours: asker == nil ? nil : records.yours(on: reader.identity))
            if reader.storesPrints {
                let known = records.chips?.entries(on: reader.identity) ?? []
                prints.others = known.count { !$0.isLoose && $0.uid != asker?.uid }
                // Nobody's reader is taken away for a table, and what may be a false one is not talked to.
                if let chips = records.chips, reader.listsPrints, distrust == nil, holders.isEmpty {
                    count(&prints, on: reader, chips)
                }
            } else {
                prints.others = records.others(on: reader.identity)
            }
            return ReaderReport(description: reader, distrust: distrust, holders: holders, prints: prints)
        }
    }

    /// Signet's own prompts by their claim, everybody else by their descriptors.
    static func holders(of reader: ReaderDescription) -> [String] {
        if case .held(let words) = ReaderClaim.refusal(of: reader.identity, in: SensorClient.standardClaims) {
            return [words.map { Output.text($0) } ?? "another prompt"]
        }
        return DeviceHolders().names(of: reader.place).map { Output.text($0) }
    }

    /// Opens the reader once, however many users have prints in its memory, and tells them apart by the index.
    private func count(_ prints: inout ReaderPrints, on reader: ReaderDescription, _ index: ChipIndex) {
        let known = index.entries(on: reader.identity)
        // Those that are asked about are looked for twice, so that a reader that has just woken up misses nothing.
        var asked: [ChipIndex.Entry] = []
        for entry in known where asked.count < EnrollmentSet.limit && asked.last?.digest != entry.digest {
            asked.append(entry)
        }
        guard let set = EnrollmentSet(handles: asked), let opened = open(reader, for: set),
            opened.presence.count == asked.count
        else { return }
        var present = opened.others
        for (entry, presence) in zip(asked, opened.presence) where presence == .onReader {
            present.append(entry.digest)
        }
        let kept = known.filter { !$0.isLoose }
        prints.foreign = index.strangers(among: present).count
        prints.hasMore = opened.others.count >= Approval.othersLimit
        // What was not asked about and is not in a list that is cut short may be there all the same.
        let gone = kept.filter { entry in
            !present.contains(entry.digest)
                && (!prints.hasMore || asked.contains { $0.digest == entry.digest })
        }
        prints.missing = gone.count
        prints.gone = gone.map { entry in
            let print = try? PrintTemplate(entry.handle.span)
            return GonePrint(
                user: TargetUser(AdministratorLedger.owner(of: entry.uid)).label, finger: print?.finger,
                keeper: GonePrint.Keeper(entry.source, now: configuration.enrollmentSource),
                isYours: entry.uid == asker?.uid)
        }
        let yoursGone = prints.gone.count { $0.isYours }
        // One that Signet kept before fprintd does was not counted.
        let counted = prints.gone.count { $0.isYours && $0.keeper != .signetBefore }
        prints.yours = prints.yours.map { max(0, $0 - counted) }
        prints.others = max(0, prints.others - (gone.count - yoursGone))
        let importable = keptByFprintd()
        prints.importable = index.strangers(among: present).count { importable.contains($0) }
        prints.importOption = asker?.option ?? ""
        prints.leftOver = known.count { entry in
            entry.isLoose && present.contains(entry.digest) && !kept.contains { $0.digest == entry.digest }
        }
    }

    /// What `import` would take over for whoever asks; nothing where fprintd keeps all prints anyway.
    private func keptByFprintd() -> [Digest] {
        guard configuration.enrollmentSource == .signet, let asker else { return [] }
        let kept = try? FprintdStore(userName: asker.name).chipEntries(for: asker.uid)
        return (kept ?? []).map(\.digest)
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
