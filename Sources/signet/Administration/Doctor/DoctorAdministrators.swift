internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

/// Whether somebody can still become root, and which administrators have no PIN where one is asked for.
struct AdministratorAccess: Equatable {
    struct Person: Equatable {
        let name: String
        /// Whether a PIN of theirs works, or a recovery code in its place.
        let hasWayIn: Bool
        /// The guarded service that asks them; nil where none does.
        let asked: String?
    }

    /// Services that make root of whom they ask for their own proof.
    static let askingTheCaller = ["sudo", "sudo-i", "polkit-1", "doas"]
    /// Services that make root of whom they ask for root's proof.
    static let askingForRoot = ["su", "su-l", "login"]
    /// At most so many people have a line of their own.
    static let lineLimit = 8

    /// Root, the members of the administrators' groups, and whose sudo runs this.
    let people: [Person]
    /// The services of both lists above that ask Signet.
    let guarded: [String]
    /// Whether one of them takes a system password that somebody has.
    let passwordHelps: Bool
    /// Whether the store, as it is, takes a new PIN.
    let storeIsWhole: Bool

    /// Those whom a guarded service asks: only their PINs count, root's for nothing where sudo alone is guarded.
    private var asked: [Person] { people.filter { $0.asked != nil } }

    /// Whether nobody becomes root any more by what can be seen here.
    var isShut: Bool {
        !guarded.isEmpty && !passwordHelps && !asked.isEmpty && !asked.contains { $0.hasWayIn }
    }

    var lines: [DoctorLine] {
        let missing = asked.filter { !$0.hasWayIn }
        var lines: [DoctorLine] = []
        if isShut {
            let names = guarded.joined(separator: ", ")
            let first = storeIsWhole ? "" : "mend the store as said above; then "
            lines.append(
                DoctorLine(
                    .fail, "pam",
                    "nobody becomes root by \(names): no administrator has a PIN that works, and no system password helps; "
                        + "\(first)set one as root, at the console or in the boot menu's recovery mode",
                    remedy: AdministratorAccess.command(missing.first?.name ?? "root", bySudo: false)))
        }
        if !guarded.isEmpty, !passwordHelps, asked.isEmpty {
            lines.append(
                DoctorLine(
                    .warn, "pam",
                    "nobody is in the groups of administrators, so it cannot be told who becomes root by "
                        + guarded.joined(separator: ", "),
                    remedy: "see that somebody with a PIN (signet status --all) is in sudoers or in the group sudo"))
        }
        for person in missing.prefix(AdministratorAccess.lineLimit) {
            lines.append(
                DoctorLine(
                    .warn, "user \(Output.text(Array(person.name.utf8)))",
                    "has no usable PIN, and \(person.asked ?? "") asks for it",
                    remedy: AdministratorAccess.command(person.name, bySudo: isSudoOpen)))
        }
        let more = missing.count - AdministratorAccess.lineLimit
        if more > 0 {
            lines.append(
                DoctorLine(
                    .warn, "users", "\(more) more administrator\(more == 1 ? " has" : "s have") no usable PIN",
                    remedy: "getent group \(Groups.administrators.joined(separator: " "))"))
        }
        return lines
    }

    /// Whether a command with sudo runs for anybody.
    private var isSudoOpen: Bool {
        !isShut && (!guarded.contains("sudo") || people.contains { $0.hasWayIn && $0.name != "root" })
    }

    private static func command(_ name: String, bySudo: Bool) -> String {
        "\(bySudo ? "sudo " : "")signet pin set --user \(ShellWord.quoted(Array(name.utf8)))"
    }
}

extension Doctor {
    /// Who would be shut out: administrators without a PIN where sudo asks Signet, root where su or login does.
    func peopleLines(storeIsWhole: Bool) -> [DoctorLine] {
        let doors = AdministratorAccess.askingTheCaller + AdministratorAccess.askingForRoot
        let guardedDoors = doors.filter { guarded.contains($0) }
        let forCallers = AdministratorAccess.askingTheCaller.first { guarded.contains($0) }
        let forRoot = AdministratorAccess.askingForRoot.first { guarded.contains($0) }
        var names = Groups.members(of: Groups.administrators)
        if let caller = Doctor.caller, !names.contains(caller) { names.append(caller) }
        names.removeAll { $0 == "root" }
        let people =
            names.map { AdministratorAccess.Person(name: $0, hasWayIn: hasWayIn($0), asked: forCallers) }
            + [AdministratorAccess.Person(name: "root", hasWayIn: hasWayIn("root"), asked: forRoot)]
        let shadow = SystemPasswords.read("/etc/shadow")
        let passwordHelps = doors.contains { door in
            guard ServiceFiles.exists(door, extra: []),
                StackReview.grantsForPassword(Array(door.utf8), read: { ServiceFiles.read($0) })
            else { return false }
            let owners = AdministratorAccess.askingForRoot.contains(door) ? ["root"] : names
            return owners.contains { shadow?.mayServe($0) ?? true }
        }
        return AdministratorAccess(
            people: people, guarded: guardedDoors, passwordHelps: passwordHelps, storeIsWhole: storeIsWhole
        ).lines
    }

    /// Who called sudo for this; an administrator, whatever groups say.
    private static var caller: String? {
        // SAFETY: the command line has one thread, and the text is copied at once.
        unsafe getenv("SUDO_USER").map { unsafe String(cString: $0) }
    }

    private func hasWayIn(_ name: String) -> Bool {
        do throws(AccountsUnreadable) {
            guard let account = try Accounts.named(Array(name.utf8)) else { return false }
            let target = TargetUser(.user(uid: account.uid, name: account.name))
            return AdministratorLedger.status(of: target, loaded.configuration, readers: .problem(.noReader)).hasWayIn
        } catch {
            // Of whom nothing can be looked up now, nothing is said.
            return true
        }
    }
}

extension UserStatus {
    /// Whether the PIN works, now or after a wait, or the recovery code does in its place.
    ///
    /// True where it cannot be told at this moment.
    var hasWayIn: Bool {
        switch record {
        case .busy: return true
        case .notSetUp, .faulty, .refused, .clockUnreadable: return false
        case .usable: break
        }
        guard pin != nil else { return false }
        guard lockout?.pin == .disabled else { return true }
        if case .ready(_, let lockout) = recovery { return lockout != .disabled }
        return false
    }
}
