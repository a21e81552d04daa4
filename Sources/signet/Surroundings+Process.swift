internal import CPlatform

extension Surroundings {
    /// This process's.
    static var ofThisProcess: Surroundings {
        Surroundings(
            effectiveUser: geteuid(), realUser: getuid(), sudoUID: environment("SUDO_UID"),
            sudoUser: environment("SUDO_USER"), accountNamed: Account.init(named:), accountWithID: Account.init(uid:))
    }

    private static func environment(_ name: String) -> String? {
        // SAFETY: the environment is not changed by this program; the string is copied at once.
        guard let value = unsafe getenv(name) else { return nil }
        // SAFETY: getenv answers a string with an end.
        return unsafe String(cString: value)
    }
}

extension Account {
    /// The account of that name, from the password database; the command line is single-threaded, so the static answer holds.
    init?(named name: String) {
        // SAFETY: getpwnam answers null or a record that lives until the next such call.
        guard let entry = unsafe getpwnam(name) else { return nil }
        // SAFETY: as above; the name is copied.
        unsafe self.init(uid: entry.pointee.pw_uid, name: String(cString: entry.pointee.pw_name))
    }

    /// The account with that uid.
    init?(uid: UInt32) {
        // SAFETY: getpwuid answers null or a record that lives until the next such call.
        guard let entry = unsafe getpwuid(uid) else { return nil }
        // SAFETY: as above; the name is copied.
        unsafe self.init(uid: uid, name: String(cString: entry.pointee.pw_name))
    }
}
