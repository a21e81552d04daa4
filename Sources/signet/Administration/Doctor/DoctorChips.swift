internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

// The index of prints in readers' memories, against all users' records.

extension Doctor {
    func chipIndexLines() -> [DoctorLine] {
        guard let opened = try? StoreOpening.open(root: root, loaded.configuration.enclaveSettings),
            var store = try? UserStore(root: root, uid: 0, userName: [], keys: opened.keys)
        else { return [] }
        if loaded.configuration.enrollmentSource == .fprintd { store.elsewhere = FprintdStore(userName: []) }
        let leak = StoreInspection.indexLeak(root: root)
        do throws(StoreError) { return Doctor.lines(try store.surveyChipIndex(mending: false), leak: leak) } catch {
            guard case .fault(_, let fault) = error else { return [] }
            return [Doctor.line(fault, leak: leak)]
        }
    }

    /// The line for an index that is not made anew; one that is unsafe here has a lock that is.
    ///
    /// `leak` is what lies in their place, where that is known.
    static func line(_ fault: RecordFault, leak: StoreLeak? = nil) -> DoctorLine {
        let lock = "the lock of the list of prints in readers' memories"
        let locked = ChipIndexWords.inPlace(leak, fault, lock) ?? "\(lock) is \(fault.words)"
        return DoctorLine(
            .warn, "chip prints",
            fault == .newer
                ? "the list of prints in readers' memories is \(fault.words)" : "\(locked): nothing is written there",
            remedy: fault == .unsafe ? ChipIndexWords.clearing : ChipIndexWords.hint(fault))
    }

    /// The lines for one look; nothing where no print lies in a reader's memory.
    ///
    /// `leak` is what lies in the list's place, where that is known.
    static func lines(_ survey: ChipSurvey, leak: StoreLeak? = nil) -> [DoctorLine] {
        var lines: [DoctorLine] = []
        if let fault = survey.fault {
            let list = "the list of prints in readers' memories"
            let words = ChipIndexWords.inPlace(leak, fault, list) ?? "\(list) is \(fault.words)"
            lines.append(
                DoctorLine(
                    .warn, "chip prints", "\(words): foreign prints are not told until it is made anew",
                    remedy: Leftovers.remedy))
        } else if !survey.fits {
            lines.append(
                DoctorLine(
                    .warn, "chip prints",
                    "the list of prints in readers' memories does not fit the records: a copy was put back, or a task was "
                        + "cut off; prints may be called foreign that are not", remedy: Leftovers.remedy))
        }
        let left = survey.leftovers.count
        if left > 0 {
            lines.append(
                DoctorLine(
                    .warn, "chip prints",
                    "\(left) \(left == 1 ? "print is" : "prints are") left over in readers' memories, and in no record",
                    remedy: Leftovers.remedy))
        }
        return lines
    }
}

/// What to do about an index that Signet itself does not replace.
enum ChipIndexWords {
    /// What an administrator does before they run the task again.
    static func hint(_ fault: RecordFault) -> String {
        switch fault {
        case .newer: remedyOfNewer
        case .stuck: "\(finding), take that away (chattr -i, umount), and run it again"
        default: "clear its place with \"\(clearing)\", and run it again"
        }
    }

    /// How to see what holds its place.
    private static var finding: String {
        let root = Output.text(UserStore.standardRoot)
        // Nobody but root can look into the folder: its files are named by root's shell, not by the one that this is pasted into.
        return "see what holds its place with \"sudo sh -c 'lsattr -d \(root) \(root)/chips*; findmnt | grep \(root)'\""
    }

    /// What lies in the place of what is called `thing`; nil where its fault is another, or nothing is known.
    static func inPlace(_ leak: StoreLeak?, _ fault: RecordFault, _ thing: String) -> String? {
        guard fault == .unsafe, let leak, leak.matter == .folder || leak.matter == .wrongKind else { return nil }
        return "\(leak.words), where \(thing) belongs"
    }

    static let remedyOfNewer = "install the later version of Signet again"
    /// Its lock, and what was set aside before: never the index itself, which may be good.
    static let clearing =
        "sudo rm -rf \(Output.text(UserStore.standardRoot))/chips.lock \(Output.text(UserStore.standardRoot))/chips.old"
}
