import Glibc
import Testing

/// The one prompt of login, which has a time limit of its own.
@Suite(.serialized, .inWorld, .withProduct) struct PromptLoginTests {
    // Would catch a login that does not take PIN or finger at the one prompt, one that leaves the prompt on the screen, and a
    // shell without echo.
    @Test func loginTakesPINAndFinger() throws {
        try Enrolled.with { alice in
            try Guarded.services(["login"]) {
                for isTouch in [false, true] {
                    alice.reader.forget()
                    let terminal = try Terminal(["login", alice.user.name])
                    try terminal.waitFor("[login: \(alice.user.name)] PIN: ")
                    try terminal.waitForSecretPrompt(Offer.touch)
                    try terminal.type("8063")
                    try terminal.waitForMasks(4)
                    if isTouch { try alice.reader.scan(Enrolled.finger) } else { try terminal.type("57\r") }
                    try terminal.waitForScreen("a shell") { $0.text.last == "$" }
                    let screen = terminal.screen()
                    // The words of the day, which login shows, may hold a sign that is a mask elsewhere.
                    #expect(!screen.words.contains("****") && !screen.words.contains("PIN"), "\(screen.text)")
                    #expect(try terminal.modes.isUsual)
                    try terminal.type(line: "echo name=$(id -un)")
                    try terminal.waitFor("name=\(alice.user.name)")
                    try terminal.type(line: "exit")
                    #expect(try terminal.finish() == 0)
                }
            }
        }
    }

    // Would catch a time limit of the program's own that is held back for ever while the reader waits, and one that ends it
    // with the field's modes, with its prompt on the screen, or with a charge that nobody made.
    @Test func loginsOwnTimeLimitEndsThePrompt() throws {
        let definitions = try File.read("/etc/login.defs").split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("LOGIN_TIMEOUT") ? "LOGIN_TIMEOUT 1" : String($0) }.joined(separator: "\n")
        try Enrolled.with { alice in
            try Guarded.services(["login"]) {
                try File.replaced("/etc/login.defs", with: definitions) {
                    let terminal = try Terminal(["login", alice.user.name])
                    let start = monotonicMilliseconds()
                    try terminal.waitForSecretPrompt(Offer.begun)
                    try terminal.type("8063")
                    try terminal.waitFor("timed out after 1 seconds", within: 4)
                    _ = try terminal.finish(within: 3)
                    #expect(monotonicMilliseconds() - start < 4000)
                    #expect(try terminal.modes.isUsual)
                    let screen = terminal.screen()
                    #expect(screen.masks() == 0 && !screen.words.contains("PIN"), "\(screen.text)")
                    try SensorProcess.waitForNone(within: 2)
                    #expect(try alice.fingerFailures() == 0)
                }
            }
        }
    }

    // Would catch what ended one name's tries answering for the next name that is typed at the same login.
    @Test func anotherNameIsAskedAnew() throws {
        try Enrolled.with { alice in
            try Guarded.services(["login"]) {
                let bob = try User.fresh()
                alice.reader.forget()
                let terminal = try Terminal(["login", bob.name])
                try terminal.waitFor("\(bob.name) has no Signet PIN yet.")
                try terminal.waitFor("login: ")
                try terminal.type(line: alice.user.name)
                try terminal.waitFor("[login: \(alice.user.name)] PIN: ")
                try terminal.type("806357\r")
                try terminal.waitForScreen("a shell") { $0.text.last == "$" }
                try terminal.type(line: "exit")
                #expect(try terminal.finish() == 0)
            }
        }
    }
}
