internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

// What to do about what other commands send people to doctor for: doctor must not send them to itself.

extension Doctor {
    private static var store: String { Output.text(UserStore.standardRoot) }

    /// What to do about something of a user's, whose name is `user` as a shell's word.
    static func remedy(for attention: Attention, uid: UInt32, user: String) -> String {
        let folder = "\(store)/users/\(uid)"
        switch attention {
        // What leaks is told by its path; this is what such a look passes over.
        case .recordFaulty(_, .unsafe): return "sudo chown -R root:root \(folder) && sudo chmod -R go= \(folder)"
        case .recordFaulty(_, .stuck): return "sudo chattr -R -i -a \(store)"
        case .recordFaulty(_, .keyLost): return "mend what is said of the store and its key"
        case .recordFaulty(.store, .enclaveRequired), .recordFaulty(.store, .enclaveGone),
            .recordFaulty(_, .enclaveForeign), .recordFaulty(_, .rolledBack):
            return attention.remedy(for: user)
        case .recordFaulty(.store, _), .recordFaulty(.values, _): return "mend what is said of the store and its key"
        case .fprintdUnusable: return "mend what is said of fprintd"
        default: return attention.remedy(for: user)
        }
    }

    /// What to do where a user's records could not be looked at.
    static func remedy(for condition: RecordCondition, uid: UInt32) -> String {
        switch condition {
        case .refused(let number):
            switch number {
            case ENOSPC, EDQUOT: "make room, as \"df \(store)\" shows"
            case EROFS: "mount it for writing; \"findmnt --target \(store)\" shows it"
            case EMFILE, ENFILE, ENOMEM: "end what uses memory or files up, or restart the machine"
            default: "look into the system's log; \"sudo dmesg\" shows what the disk answered"
            }
        case .clockUnreadable: "sudo mount -t proc proc /proc"
        case .busy, .usable, .notSetUp, .faulty:
            "wait until that has ended; \"sudo fuser -v \(store)/users/\(uid)/lock\" names it"
        }
    }

    /// What is wrong with the store's own folder, and the command that mends it at once.
    static func storeLine(_ problem: PathProblem, _ leak: StoreLeak?) -> DoctorLine {
        let line = Doctor.line("store", problem)
        guard let leak, leak.path == problem.path else { return line }
        return DoctorLine(.fail, "store", leak.matter == .wrongKind ? leak.words : line.text, remedy: leak.remedy)
    }

    /// What is wrong with the users' folder, which cannot be read.
    static func usersLine(_ leak: StoreLeak?) -> DoctorLine {
        let users = "\(store)/users"
        if let leak, leak.matter == .wrongKind, leak.path == Array(users.utf8) {
            return DoctorLine(.fail, "records", leak.words, remedy: leak.remedy)
        }
        return DoctorLine(
            .fail, "records", "the users' folder cannot be read",
            remedy: "sudo chown root:root \(users) && sudo chmod 700 \(users)")
    }
}
