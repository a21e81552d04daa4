/// The table of verbs, in the order of the help.
enum Verbs {
    /// What people do for themselves.
    static let personal: [Command] = [
        .setup, .enroll, .verify, .list, .delete, .importPrints, .activate, .deactivate, .pinSet, .pinChange,
        .pinRemove,
        .recoveryCodeNew, .recoveryCodeUse,
    ]

    static let all: [Command] = personal + AdministratorVerbs.all + [.version]
}
