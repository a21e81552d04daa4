import Foundation
import Testing

/// The prompt inside tmux, whose screen is what a person sees.
@Suite(.serialized, .inWorld, .withProduct) struct PromptTmuxTests {
    // Would catch a prompt that stands there twice, or stays after the PIN, after a finger, or after Ctrl-C.
    @Test func thePromptStandsThereOnceAndVanishes() throws {
        try Enrolled.with { alice in
            let tmux = try Tmux(as: alice.user)
            var expected = ["ready> sudo -k id -u", "0", "ready>"]
            try tmux.type(line: "sudo -k id -u")
            try tmux.waitForLines("an armed prompt") { isArmed($0) }
            try tmux.paste("8063")
            #expect(prompts(try tmux.waitForLines("four masks") { masks($0) == 4 }) == 1)
            try tmux.type(line: "57")
            try tmux.waitForLines("the answer") { $0.last == "ready>" }
            #expect(try tmux.lines() == expected)

            alice.reader.forget()
            try tmux.type(line: "sudo -k id -u")
            try tmux.waitForLines("an armed prompt") { isArmed($0) }
            try tmux.type("8063")
            try alice.reader.scan(Enrolled.finger)
            expected = expected.dropLast() + expected
            try tmux.waitForLines("both answers") { $0 == expected }

            try tmux.type(line: "sudo -k id -u")
            try tmux.waitForLines("an armed prompt") { isArmed($0) }
            try tmux.type("8063")
            try tmux.press("C-c")
            let end = try tmux.waitForLines("the shell again") { $0.count > expected.count && $0.last == "ready>" }
            #expect(prompts(end) == 0 && masks(end) == 0, "\(end)")
        }
    }

    // Would catch rows that are left, doubled or eaten where the terminal re-wraps its lines, and what was typed being kept.
    //
    // A window that is not full pushes its first lines out when it becomes narrower: what has left the screen so, masks
    // included, no program can take back.
    @Test(arguments: [false, true])
    func aResizedWindowLosesNothingButWhatWasTyped(_ isFull: Bool) throws {
        try Enrolled.with { alice in
            let tmux = try Tmux(as: alice.user)
            if isFull {
                try tmux.type(line: "seq 30")
                try tmux.waitForLines("a full window") { $0.suffix(2) == ["30", "ready>"] }
            }
            try tmux.type(line: "echo above; sudo -k id -u")
            try tmux.waitForLines("an armed prompt") { isArmed($0) }
            for columns in [40, 24, 100, 20, 80] {
                try tmux.type("806")
                try tmux.waitForLines("three masks") { masks($0) == 3 }
                try tmux.resize(columns: columns)
                let lines = try tmux.waitForLines("an empty prompt at \(columns)") { masks($0) == 0 && isArmed($0) }
                #expect(prompts(lines) == 1, "\(columns): \(lines)")
                let all = try tmux.lines(scrolledBack: true)
                #expect(all.count { $0 == "above" } == 1, "\(columns): \(all)")
                if isFull { #expect(prompts(all) == 1 && masks(all) == 0, "\(columns): \(all)") }
            }
            try tmux.type(line: Enrolled.pin)
            let lines = try tmux.waitForLines("the answer") { $0.last == "ready>" }
            #expect(lines.suffix(2) == ["0", "ready>"] && masks(lines) == 0 && prompts(lines) == 0, "\(lines)")
            if isFull { #expect(lines.suffix(3).first == "above", "\(lines)") }
        }
    }

    // Would catch a stopped `su` that leaves its prompt on a real emulator's screen, or draws it over the shell's lines.
    @Test func aStoppedSuLeavesTheShellsLines() throws {
        try Enrolled.with { alice in
            let tmux = try Tmux(as: alice.user, columns: 40)
            try tmux.type(line: "su \(alice.user.name) -c 'echo in'")
            try tmux.waitForLines("an armed prompt") { isArmed($0) }
            try tmux.type("806")
            try tmux.waitForLines("three masks") { masks($0) == 3 }
            try tmux.press("C-z")
            let stopped = try tmux.waitForLines("the shell again") { $0.last == "ready>" }
            #expect(masks(stopped) == 0 && !isArmed(stopped), "\(stopped)")
            #expect(stopped.joined().contains("Stopped"))
            try tmux.type(line: "fg")
            try tmux.waitForLines("an empty prompt") { masks($0) == 0 && isArmed($0) }
            try tmux.type(line: Enrolled.pin)
            let end = try tmux.waitForLines("the answer") { $0.suffix(2) == ["in", "ready>"] }
            #expect(Array(end.dropLast(2).prefix(stopped.count - 1)) == Array(stopped.dropLast()), "\(end)")
        }
    }
}

// What a pane shows, by its lines.
private func prompts(_ lines: [String]) -> Int { lines.count { $0.contains("[sudo: ") } }
private func masks(_ lines: [String]) -> Int { lines.joined().count { $0 == "*" } }
private func isArmed(_ lines: [String]) -> Bool {
    lines.joined().filter { $0 != " " }.contains("Touchthereaderortype")
}
