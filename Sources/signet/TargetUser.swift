internal import SignetPlatform
internal import SignetPolicy

/// Whom a command is about.
struct TargetUser: Equatable {
    let uid: UInt32
    /// The login name, as the password database has it.
    let name: [UInt8]
    /// Whether somebody else than the user runs the command: an administrator.
    let byAdministrator: Bool
    /// Whose share of the PIN's tries a failure uses up.
    let caller: CallerClass

    /// The name for messages.
    var text: String { Output.text(name) }

    /// The name for commands that somebody may paste into a shell: the uid where there is no account.
    var argument: String { name.isEmpty ? "\(uid)" : ShellWord.quoted(name) }

    /// What a command needs beside its name, so that it is about this user.
    var option: String { byAdministrator ? " --user \(argument)" : "" }
}

/// What the process was started with, and whom the machine knows.
struct Surroundings {
    /// The effective and the real uid.
    var effectiveUser: UInt32
    var realUser: UInt32
    /// SUDO_UID and SUDO_USER.
    var sudoUID: String?
    var sudoUser: String?
    var accountNamed: ([UInt8]) throws(AccountsUnreadable) -> KnownAccount?
    var accountWithID: (UInt32) throws(AccountsUnreadable) -> KnownAccount?
}

/// An account of the machine.
struct KnownAccount: Equatable {
    let uid: UInt32
    let name: [UInt8]
}

extension TargetUser {
    /// Whose shell it was: sudo says so, and root alone may run the command, so nobody else can have made that up.
    static func resolve(option: String?, _ surroundings: Surroundings) throws(Failure) -> TargetUser {
        try requireRoot(surroundings)
        let found: Result<TargetUser, Failure>
        do throws(AccountsUnreadable) { found = try find(option, surroundings) } catch {
            throw Failure(.busy, "the account database cannot be read now", hint: "see \"getent passwd\"")
        }
        return try found.get()
    }

    /// Refuses everybody but root.
    static func requireRoot(_ surroundings: Surroundings) throws(Failure) {
        guard surroundings.effectiveUser == 0 else {
            throw Failure(.notPermitted, "the store belongs to root", hint: "run it as \"sudo signet …\"")
        }
    }

    private static func find(
        _ option: String?, _ surroundings: Surroundings
    ) throws(AccountsUnreadable) -> Result<TargetUser, Failure> {
        let hint = "name the user with --user"
        var invoker: KnownAccount?
        if let text = surroundings.sudoUID {
            guard let uid = UInt32(text), let account = try surroundings.accountWithID(uid) else {
                return .failure(Failure(.usage, "SUDO_UID names nobody", hint: hint))
            }
            if let name = surroundings.sudoUser, try surroundings.accountNamed(Array(name.utf8))?.uid != uid {
                return .failure(Failure(.usage, "SUDO_USER and SUDO_UID name different people", hint: hint))
            }
            invoker = account
        }
        guard let option else {
            guard let invoker else {
                return .failure(Failure(.usage, "it is not clear whose PIN and fingers are meant", hint: hint))
            }
            return .success(TargetUser(invoker.uid, invoker.name, invokedBy: invoker.uid))
        }
        guard let account = try surroundings.accountNamed(Array(option.utf8)) else {
            let name = Output.name(option)
            return .failure(Failure(.usage, "there is no user \"\(name)\"", hint: "see \"getent passwd\""))
        }
        return .success(
            TargetUser(account.uid, account.name, invokedBy: invoker?.uid ?? surroundings.realUser))
    }

    private init(_ uid: UInt32, _ name: [UInt8], invokedBy invoker: UInt32) {
        self.init(
            uid: uid, name: name, byAdministrator: invoker != uid,
            caller: invoker == uid || invoker == 0 ? .person : .anotherPerson)
    }
}
