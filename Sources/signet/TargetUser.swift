/// Whom a command is about.
struct TargetUser: Equatable {
    let uid: UInt32
    let name: String
    /// Whether somebody else than the user runs the command: an administrator.
    let byAdministrator: Bool
}

/// One line of the password database.
struct Account: Equatable {
    let uid: UInt32
    let name: String
}

/// What the process was started with, and whom the machine knows.
struct Surroundings {
    /// The effective and the real uid.
    var effectiveUser: UInt32
    var realUser: UInt32
    /// SUDO_UID and SUDO_USER.
    var sudoUID: String?
    var sudoUser: String?
    var accountNamed: (String) -> Account?
    var accountWithID: (UInt32) -> Account?
}

extension TargetUser {
    /// Whose shell it was: sudo says so, and root alone may run the command, so nobody else can have made that up.
    static func resolve(option: String?, _ surroundings: Surroundings) throws(Failure) -> TargetUser {
        try requireRoot(surroundings)
        let invoker = try invoker(surroundings)
        guard let option else {
            guard let invoker else {
                throw Failure(.usage, "it is not clear whose PIN and fingers are meant", hint: "name the user with --user")
            }
            return TargetUser(uid: invoker.uid, name: invoker.name, byAdministrator: false)
        }
        guard let account = surroundings.accountNamed(option) else {
            throw Failure(.usage, "there is no user \"\(Output.text(Array(option.utf8)))\"", hint: "see \"getent passwd\"")
        }
        let own = invoker.map { $0.uid == account.uid } ?? (account.uid == surroundings.realUser)
        return TargetUser(uid: account.uid, name: account.name, byAdministrator: !own)
    }

    /// Refuses everybody but root.
    static func requireRoot(_ surroundings: Surroundings) throws(Failure) {
        guard surroundings.effectiveUser == 0 else {
            throw Failure(.notPermitted, "the store belongs to root", hint: "run it as \"sudo signet …\"")
        }
    }

    private static func invoker(_ surroundings: Surroundings) throws(Failure) -> Account? {
        guard let text = surroundings.sudoUID else { return nil }
        guard let uid = UInt32(text), let account = surroundings.accountWithID(uid) else {
            throw Failure(.usage, "SUDO_UID names nobody", hint: "name the user with --user")
        }
        if let name = surroundings.sudoUser, surroundings.accountNamed(name)?.uid != uid {
            throw Failure(.usage, "SUDO_USER and SUDO_UID name different people", hint: "name the user with --user")
        }
        return account
    }
}
