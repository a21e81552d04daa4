extension Command {
    /// `signet version`.
    static let version = Command("version", "say which Signet this is", options: [.json]) {
        (invocation) throws(Failure) in
        VersionAnswer().give(asJSON: invocation.json)
        return .yes
    }
}

/// What `version` answers.
struct VersionAnswer: Encodable {
    var version = "1.0.0"

    func give(asJSON json: Bool) { Output.data(json ? Output.json(self) : "signet \(version)\n") }
}
