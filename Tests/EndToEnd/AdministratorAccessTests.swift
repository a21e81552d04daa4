import Testing

/// A machine that nobody can administer any more, as the shipped doctor tells it.
@Suite(.serialized, .inWorld, .withProduct) struct AdministratorAccessTests {
    private static let told = "nobody becomes root by sudo, sudo-i, su, su-l, login:"

    private func doctor() throws -> (code: Int, words: String) {
        let doctor = try Command.run(["signet", "doctor"])
        return (doctor.code, doctor.output.replacing(/\s+/, with: " "))
    }

    // Would catch: a store that is gone while every service asks for its PINs, and a doctor that calls the machine
    // well; an alarm while somebody still gets in; and a remedy that does not end it.
    @Test func aStoreThatIsGoneIsAFailure() throws {
        let user = try Signet.user()
        try Command.must("usermod", "-aG", "sudo", user.name)
        defer { _ = try? Command.run(["gpasswd", "-d", user.name, "sudo"]) }
        // Else pkexec would be a way to root, where it is installed.
        try Command.must("passwd", "-q", "-l", user.name)
        let whole = try StoreCopy()
        defer { try? whole.restore() }
        try Signet.guarding("sudo", "sudo-i", "su", "su-l", "login") {
            let before = try doctor()
            #expect(!before.words.contains("nobody becomes root"), "\(before)")
            try Command.must("rm", "-r", Signet.store)
            let gone = try doctor()
            #expect(gone.code == 1 && gone.words.contains(Self.told), "\(gone)")
            let remedy = "signet pin set --user \(user.name)"
            #expect(gone.words.contains("→ \(remedy)"), "\(gone)")
            #expect(!gone.words.contains("sudo \(remedy)"), "\(gone)")
            try Command.must("sh", "-c", "\(remedy) --stdin", input: Signet.pin + "\n")
            let mended = try doctor()
            #expect(!mended.words.contains("nobody becomes root"), "\(mended)")
            #expect(try Sudo.accepts(user))
        }
    }
}
