import Glibc
import Testing

/// What programs that ask for the PIN have of it in their memory and in a core image: before Enter only what guarded pages
/// hold, after it nothing.
///
/// A terminal's own line buffer is the kernel's. The programs' own conversations are their programs'.
@Suite(.serialized, .inWorld, .withProduct) struct MemoryTests {
    static let wrong = "Zq7mXw4TkB9vNc3R"

    /// All that is found, in the memory itself and in a core image.
    static func findings(_ patterns: [Pattern], _ terminal: Terminal) throws -> [Hit] {
        try MemoryImage.hits(of: patterns, in: terminal.process)
            + MemoryImage.hitsInCore(of: patterns, terminal.process)
    }

    // Would catch a person who is shut out where memory cannot be locked, and an administrator who never hears of it.
    @Test func memoryThatCannotBeLockedIsAWarning() throws {
        let journal = try JournalListener()
        let user = try Signet.user()
        try Signet.alone { service in
            for (limits, warnings) in [
                ([], 0), (["setpriv", "--bounding-set=-ipc_lock", "prlimit", "--memlock=0"], 1),
            ] {
                let words = limits + PAMHost.command(service, user.name)
                let host = try PAMHost(report: Command.run(words, input: "\(Signet.pin)\n").output)
                #expect(host.rounds.map(\.code) == [0])
                try journal.waitFor(warnings == 0 ? "event=authentication" : "event=memory_not_locked", user.name)
                let told = journal.lines.filter { $0.contains("event=memory_not_locked") && $0.contains(user.name) }
                #expect(told.count == warnings, "\(journal.lines)")
            }
        }
    }

    // Would catch a search that finds nothing whatever lies there: one copy in the program's own memory fails all of the
    // others.
    @Test(arguments: WatchedProgram.allCases) func aPlantedCopyIsFound(_ program: WatchedProgram) throws {
        try WatchedPerson.with(finger: true) { person in
            try program.guarded {
                let terminal = try program.start(person.user)
                try terminal.waitForPIN()
                try terminal.waitUntilIdle()
                #expect(try Self.findings(person.secrets.patterns, terminal) == [])
                let mappings = try MemoryImage.mappings(of: terminal.process)
                func plant(_ bytes: [UInt8], where fits: (MemoryImage.Mapping) -> Bool) throws {
                    let place = try #require(mappings.first { $0.permissions == "rw-p" && fits($0) })
                    // An odd place across a page's border where there is one.
                    let start = place.range.upperBound - UInt(place.range.count > 8192 ? 4096 + 7 : 4096 - 7)
                    try MemoryImage.plant(bytes, in: terminal.process, at: start)
                }
                for pattern in person.secrets.patterns {
                    try plant(pattern.bytes) { $0.name == "[heap]" }
                    let found = try Self.findings([pattern], terminal)
                    let name = pattern.name
                    #expect(found.map(\.description) == ["\(name) in rw-p [heap]", "\(name) in the core image"])
                }
                // The last one in guarded memory instead: there, and in no core image.
                let last = try #require(person.secrets.patterns.last)
                try plant([UInt8](repeating: 0, count: last.bytes.count)) { $0.name == "[heap]" }
                try plant(Array(last.bytes.prefix(2048))) { $0.isGuarded }
                let part = Pattern(name: "it", bytes: Array(last.bytes.prefix(2048)))
                let found = try Self.findings([part], terminal)
                #expect(found == [Hit(secret: "it", place: "rw-p anonymous memory", isGuarded: true)])
            }
        }
    }

    // Would catch keys that are kept in clear, outside of guarded pages, while somebody types.
    @Test(arguments: WatchedProgram.allCases) func whileTyping(_ program: WatchedProgram) throws {
        try WatchedPerson.with { person in
            try program.guarded {
                let terminal = try program.start(person.user)
                try terminal.waitForPIN()
                for length in [6, 12] {
                    let typed = String(person.pin.prefix(length))
                    try terminal.type(String(typed.suffix(6)))
                    try terminal.waitUntilIdle()
                    let found = try Self.findings(KnownSecrets.forms(of: typed, as: "what was typed"), terminal)
                    #expect(found.filter { !$0.isGuarded } == [], "\(length) characters")
                }
            }
        }
    }

    // Would catch a PIN that is still anywhere while its key is derived, for a second and more at a high cost.
    @Test(arguments: WatchedProgram.allCases) func afterEnter(_ program: WatchedProgram) throws {
        try WatchedPerson.with(lines: ["argon2_passes = 8", "argon2_memory = 256"]) { person in
            try program.guarded {
                let terminal = try program.start(person.user)
                try terminal.waitForPIN()
                try terminal.type(line: person.pin)
                try terminal.freezeInDerivation(memoryMiB: 256)
                // Only the image from which the key is derived, which also tells that the moment was the right one.
                let found = try Self.findings(person.secrets.patterns, terminal)
                let image = found.filter { $0.isGuarded && $0.secret.hasPrefix("the PIN's image") }
                #expect(image.count == 4)
                #expect(found.filter { !image.contains($0) } == [])
                terminal.signal(SIGCONT)
                try terminal.waitFor(program.granted)
            }
        }
    }

    // Would catch what the way to a success leaves on stack and heap, for as long as the command runs.
    @Test(arguments: WatchedProgram.allCases) func afterSuccess(_ program: WatchedProgram) throws {
        try WatchedPerson.with(finger: true) { person in
            try program.guarded {
                let terminal = try program.start(person.user)
                try terminal.waitForPIN()
                try terminal.type(line: person.pin)
                try terminal.waitFor(program.granted)
                try terminal.waitUntilIdle()
                #expect(try Self.findings(person.secrets.patterns, terminal) == [])
            }
        }
    }

    // Would catch a wrong PIN that stays: it is often the right one of something else, or nearly this one.
    @Test(arguments: WatchedProgram.allCases) func afterFailure(_ program: WatchedProgram) throws {
        try WatchedPerson.with { person in
            let patterns = KnownSecrets.forms(of: Self.wrong, as: "the wrong PIN") + person.secrets.patterns
            func look(_ next: (Terminal) throws -> Void) throws {
                let terminal = try program.start(person.user)
                try terminal.waitForPIN()
                try terminal.type(line: Self.wrong)
                try terminal.waitFor("Wrong PIN.")
                try next(terminal)
                try terminal.waitUntilIdle()
                #expect(try Self.findings(patterns, terminal) == [])
            }
            // What comes next; su ends at the first failure.
            if program != .su { try program.guarded { try look { try $0.waitFor(program.refused) } } }
            if program != .signet { try program.staying { try look { _ = try $0.waitForChild("sleep") } } }
        }
    }

    // Would catch what was typed and given up, and is forgotten instead of wiped.
    @Test(arguments: WatchedProgram.allCases) func afterCancel(_ program: WatchedProgram) throws {
        try WatchedPerson.with { person in
            try program.staying {
                let terminal = try program.start(person.user)
                try terminal.waitForPIN()
                try terminal.type(String(person.pin.prefix(12)))
                // Ctrl-C would interrupt su and login themselves, and leave no process to look into.
                try terminal.press(program == .su || program == .login ? "d" : "c")
                if program == .signet {
                    try terminal.waitFor("Cancelled.")
                } else {
                    _ = try terminal.waitForChild("sleep")
                }
                try terminal.waitUntilIdle()
                let typed = KnownSecrets.forms(of: String(person.pin.prefix(12)), as: "what was typed")
                #expect(try Self.findings(typed + person.secrets.patterns, terminal) == [])
            }
        }
    }
}
