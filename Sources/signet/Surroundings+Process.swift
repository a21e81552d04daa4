internal import CPlatform
internal import SignetPlatform

extension Surroundings {
    /// This process's.
    static var ofThisProcess: Surroundings {
        Surroundings(
            effectiveUser: geteuid(), realUser: getuid(), sudoUID: environment("SUDO_UID"),
            sudoUser: environment("SUDO_USER"),
            accountNamed: { (name) throws(AccountsUnreadable) in
                try Accounts.named(name).map { KnownAccount(uid: $0.uid, name: $0.name) }
            },
            accountWithID: { (uid) throws(AccountsUnreadable) in
                try Accounts.numbered(uid).map { KnownAccount(uid: $0.uid, name: $0.name) }
            })
    }

    static func environment(_ name: String) -> String? {
        // SAFETY: the environment is not changed by this program; the string is copied at once.
        guard let value = unsafe getenv(name) else { return nil }
        // SAFETY: getenv answers a string with an end.
        return unsafe String(cString: value)
    }
}
