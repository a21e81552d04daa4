/// The table of verbs, in the order of the help.
enum Verbs {
    /// What people do for themselves.
    static let personal: [Command] = [.version]

    static let all: [Command] = personal + AdministratorVerbs.all
}
