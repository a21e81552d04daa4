import Testing

/// Users without a PIN, without an account, with another name, and with somebody else's number.
@Suite(.serialized, .inWorld, .withProduct) struct PINAccountsTests {
    // Would catch a user who is let in, or asked, before there is anything to compare with.
    @Test func aUserWithoutAPINIsToldOnceAndRefused() throws {
        let (user, other) = (try User.fresh(), try Signet.user())
        let journal = try JournalListener()
        try Signet.guarding("sudo", "login") {
            let refused = try Sudo.answer(user, [])
            #expect(refused.isRefused && refused.count(of: "\(user.name) has no Signet PIN yet.") == 1, "\(refused)")
            #expect(refused.count(of: "PIN: ") == 0)
            try journal.waitFor("event=authentication", "outcome=refused", "reason=pin_not_set", "user=\(user.name)")
            #expect(try Sudo.answerOnPipes(user, [user.password, Signet.pin]).code == 1)
            // Somebody else's PIN is nobody else's.
            #expect(try Sudo.accepts(other))
        }
    }

    // Would catch prompts that tell who exists.
    @Test func loginAsksAnUnknownUserWhatItAsksAKnownOne() throws {
        let user = try Signet.user()
        let unknown = "x" + user.name.dropFirst()
        try Signet.guarding("login") {
            let terminals = try [user.name, unknown].map { try Terminal(["login", $0]) }
            var texts: [String] = []
            for terminal in terminals {
                try terminal.waitForSecretPrompt(Sudo.prompt)
                try terminal.type(line: Signet.wrongPIN(1))
            }
            for terminal in terminals {
                try terminal.waitFor("Login incorrect")
                // Where it asks for the next name the transcript may or may not have it yet.
                texts.append(String(terminal.transcript.prefix { $0 != "L" }))
            }
            // But for the name itself, which is part of the prompt.
            #expect(texts[0] == texts[1].replacing(unknown, with: user.name))
            #expect(texts[0].contains("Wrong PIN."))
        }
    }

    // Would catch codes and prompts that differ for a reason that a stranger may not know.
    @Test func pamtesterMeetsTheSamePromptsForAnUnknownUser() throws {
        let user = try Signet.user()
        let unknown = "x" + user.name.dropFirst()
        try Signet.alone { service in
            var texts: [String] = []
            for (name, answer) in [(user.name, Signet.wrongPIN(1)), (unknown, Signet.pin)] {
                let terminal = try Terminal(["pamtester", service, name, "authenticate"])
                try terminal.waitForSecretPrompt(Sudo.prompt)
                try terminal.type(line: answer)
                try terminal.waitFor("Wrong PIN.")
                #expect(try terminal.finish() == 1)
                // pamtester itself says which code it was.
                texts.append(
                    String(terminal.transcript.split(separator: "pamtester:")[0]).replacing(name, with: user.name))
            }
            #expect(texts[0] == texts[1])
            let right = try Terminal(["pamtester", service, user.name, "authenticate"])
            try right.waitForSecretPrompt(Sudo.prompt)
            try right.type(line: Signet.pin)
            try right.waitFor("successfully authenticated")
            #expect(try right.finish() == 0)
        }
    }

    // Would catch an answer for an unknown user that comes too early or too late: the time tells who exists.
    @Test func anUnknownUserTakesTheTimeOfAWrongPIN() throws {
        let user = try Signet.user()
        let unknown = "x" + user.name.dropFirst()
        try Signet.alone { service in
            var times: [[Double]] = [[], []]
            var ratio = 0.0
            // The shortest of several, in turn: the machine's other work only ever adds time. So more of them help.
            for _ in 1...4 {
                for number in 1...4 {
                    for (index, name) in [user.name, unknown].enumerated() {
                        let host = try PAMHost.run(service, name, answers: [Signet.wrongPIN(number)])
                        #expect(host.messages == ["prompt: Password: "])
                        #expect(host.rounds.map(\.code) == [index == 0 ? 7 : 10])
                        times[index] += host.rounds.map(\.milliseconds)
                    }
                }
                try Signet.reset(user)
                ratio = try #require(times[1].min()) / #require(times[0].min())
                if abs(ratio - 1) < 0.3 { break }
            }
            #expect(abs(ratio - 1) < 0.3, "known \(times[0]), unknown \(times[1])")
            // A name typed in the password's place, and who does not exist, stay out of the journal.
            let journal = try JournalListener()
            _ = try PAMHost.run(service, unknown, answers: [Signet.pin])
            try journal.waitFor("reason=unknown_user", "user=unknown")
            #expect(!journal.lines.contains { $0.contains(unknown) })
        }
    }

    private static func anotherName(_ user: User) -> String {
        "What Signet keeps of \(user.name) was made under another user name."
    }

    // Would catch a record that follows its uid to another name, be it the same person's or not.
    @Test func aRenamedUserIsRefusedUntilAnAdministratorAdopts() throws {
        let user = try Signet.user()
        let name = "r" + user.name
        try Command.must("usermod", "--login", name, user.name)
        try File.write("\(name) ALL=(ALL:ALL) ALL\n", to: "/etc/sudoers.d/\(name)", mode: 0o440)
        let renamed = User(name: name, password: user.password, uid: user.uid, gid: user.gid)
        let journal = try JournalListener()
        try Signet.guarding("sudo") {
            let refused = try Sudo.answer(renamed, [])
            #expect(refused.isRefused && refused.count(of: Self.anotherName(renamed)) == 1, "\(refused)")
            // Root's new PIN would take the place of what is only to be given the new name.
            #expect(try Command.run(["signet", "pin", "set", "--stdin", "--user", name], input: "914728\n").code == 4)
            try journal.waitFor("event=record_fault", "record=identity", "fault=renamed", "user=\(name)")
            try Signet.must(["user", "adopt", "--user", name])
            try journal.waitFor("act=adopted", "user=\(name)")
            #expect(try Sudo.accepts(renamed))
        }
    }

    // Would catch a new user who inherits the PIN of a removed one.
    @Test func aNewUserWithAnOldNumberIsRefusedUntilThatIsPurged() throws {
        let old = try Signet.user()
        // By hand: userdel(8) would have Signet's hooks purge it.
        try Command.must("sed", "-i", "/^\(old.name):/d", "/etc/passwd", "/etc/shadow")
        let name = "n" + old.name
        try Command.must("useradd", "-M", "-d", "/", "-s", "/bin/sh", "-u", "\(old.uid)", name)
        try File.write("\(name) ALL=(ALL:ALL) ALL\n", to: "/etc/sudoers.d/\(name)", mode: 0o440)
        let user = User(name: name, password: "", uid: old.uid, gid: old.gid)
        let journal = try JournalListener()
        try Signet.guarding("sudo") {
            let refused = try Sudo.answer(user, [])
            #expect(refused.isRefused && refused.count(of: Self.anotherName(user)) == 1, "\(refused)")
            try journal.waitFor("event=record_fault", "fault=renamed", "user=\(name)")
            #expect(try Sudo.answerOnPipes(user, [Signet.pin]).code == 1)
            try Signet.must(["user", "purge", "--user", name, "--yes"])
            #expect(try Sudo.answer(user, []).count(of: "\(name) has no Signet PIN yet.") == 1)
            try Signet.setPIN(user, "914728")
            #expect(try Sudo.accepts(user, "914728"))
        }
    }
}
