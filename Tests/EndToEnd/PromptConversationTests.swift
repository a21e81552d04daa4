import Foundation
import Testing

/// Where the program asks and not Signet: one hidden field through its conversation, and no escape sequence.
@Suite(.serialized, .inWorld, .withProduct) struct PromptConversationTests {
    // Would catch a field on the terminal where sudo was told to read standard input, and a finger that is waited for.
    @Test func sudoThatReadsStandardInputDoesSo() throws {
        try Enrolled.with { alice in
            let right = try Command.run(
                ["sudo", "-k", "-S", "-p", "ask: ", "id", "-u"], as: alice.user, input: "806357\n")
            #expect((right.code, right.output, right.error) == (0, "0\n", "ask: "))

            // With a terminal beside the pipe.
            let script = "echo 806357 | sudo -k -S id -u"
            let terminal = try Terminal(["sh", "-c", script], as: alice.user)
            let before = terminal.modesAtStart
            let ending = try terminal.ended()
            // sudo asks on standard error, here the terminal; what the command says comes behind that.
            #expect(ending.code == 0 && terminal.screen().words.hasSuffix(": 0"), "\(ending.shown)")
            #expect(!ending.shown.contains("\u{1B}"), "\(ending.shown.debugDescription)")
            #expect(try terminal.modes == before)
            #expect(SensorProcess.all().isEmpty)
        }
    }

    // Would catch a prompt on the terminal beside the askpass program's, and an answer that is not taken.
    @Test func sudoWithAnAskpassProgramAsksThere() throws {
        try Enrolled.with { alice in
            let asker = try World.scratchFolder() + "/askpass"
            try File.write(
                "#!/bin/sh\necho \"$1\" > \"$0.asked.$$\" 2>/dev/null\necho 806357\n", to: asker, mode: 0o755)
            let variables = Child.environment.merging(["SUDO_ASKPASS": asker]) { $1 }
            let terminal = try Terminal(["sudo", "-k", "-A", "id", "-u"], as: alice.user, environment: variables)
            let ending = try terminal.ended()
            #expect(ending.isGranted, "\(ending.shown)")
            #expect(
                !ending.shown.contains("\u{1B}") && !ending.shown.contains("PIN"), "\(ending.shown.debugDescription)")
        }
    }

    // Would catch a module that reads the terminal where it was told not to.
    @Test func promptConversationLeavesTheTerminalToTheProgram() throws {
        try Enrolled.with { alice in
            try Guarded.services(["su"], arguments: "prompt=conversation") {
                let terminal = try Terminal(["su", alice.user.name, "-c", "id -u"], as: alice.user)
                let before = terminal.modesAtStart
                try terminal.waitForSecretPrompt("PIN, or press Enter and touch the reader: ")
                #expect(try terminal.modes.local & tcflag_t(ICANON) != 0, "the field has the terminal")
                try terminal.type(line: Enrolled.pin)
                #expect(try terminal.finish() == 0, "\(terminal.transcript)")
                #expect(terminal.transcript.contains("\r\n\(alice.user.uid)\r\n"))
                #expect(!terminal.transcript.contains("\u{1B}"))
                #expect(try terminal.modes == before)
            }
        }
    }

    // Would catch a program without the terminal as its input that hangs, traps or draws; sudo asks at the terminal all the
    // same, through its own conversation.
    @Test(arguments: ["< /dev/null", "<&-"])
    func standardInputFromNowhereLeavesTheConversation(_ redirection: String) throws {
        try Enrolled.with { alice in
            let words = ["sh", "-c", "sudo -k id -u \(redirection)"]
            let terminal = try Terminal(words, as: alice.user)
            let before = terminal.modesAtStart
            try terminal.waitForSecretPrompt("PIN, or press Enter and touch the reader: ")
            try terminal.type(line: Enrolled.pin)
            let ending = try terminal.ended()
            #expect(ending.isGranted, "\(ending.shown)")
            #expect(!ending.shown.contains("\u{1B}"), "\(ending.shown.debugDescription)")
            #expect(try terminal.modes == before)
        }
    }

    // Would catch a background job that asks, which stops it, or arms the reader, which takes a touch that was meant for
    // something else; and a shell that cannot be used afterwards.
    @Test func aBackgroundJobIsRefusedWithoutAQuestion() throws {
        try Enrolled.with { alice in
            let shell = try Shell(as: alice.user)
            let journal = try JournalListener()
            try shell.run("sudo -k id -u &")
            try shell.terminal.waitFor("A background job cannot ask for your PIN.")
            try journal.waitFor("user=\(alice.user.name)", "background")
            #expect(SensorProcess.all().isEmpty)
            try shell.run("wait; jobs; echo over=$((6*7))")
            try shell.terminal.waitFor("over=42\r\n")
            // Where background jobs are stopped when they write Signet says nothing; sudo's own sentences would stop it.
            try shell.waitForPrompt()
            try shell.run("stty tostop; sudo -k id -u 2> /dev/null &")
            try shell.run("wait; stty -tostop; jobs; echo over=$((6*8))")
            try shell.terminal.waitFor("over=48\r\n")
            #expect(!shell.terminal.transcript.contains("\u{1B}"), "\(shell.terminal.transcript.debugDescription)")
            #expect(!shell.terminal.transcript.contains("Stopped"))
            #expect(try shell.terminal.modes == shell.modes)
            #expect(try alice.fingerFailures() == 0)
        }
    }
}
