import CPlatform
import CTerminal
import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetSecrets
import Testing

@testable import signet

/// The recovery code of these tests.
private let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
private let groups = ["ABCDE", "FGHIJ", "KLMNO", "PQRST", "UVWXY"]
private let pressKey = "Press a key"

extension Exposure.Times {
    /// The usual ones, with keys that count at once.
    fileprivate static let heard = Exposure.Times(shown: usual.shown, deaf: 0)
    fileprivate static let short = Exposure.Times(shown: 300, deaf: 0)
}

private func showCode(on path: String, movesCursor: Bool = true, _ times: Exposure.Times = .heard) {
    guard let code = SecretBytes(copying: Array(letters.utf8).span) else { return }
    var screen = TerminalScreen(path: path, movesCursor: movesCursor, exposure: times)
    screen.show(recoveryCode: code)
    screen.end()
}

@Suite struct RecoveryCodeScreenTests {
    private func expectCovered(_ transcript: Transcript) {
        #expect(transcript.entered == 1 && transcript.left == 1)
        #expect(groups.allSatisfy { transcript.alternate.contains($0) })
        #expect(!groups.contains { transcript.main.contains($0) })
        // Terminals that have no alternate screen are wiped.
        #expect(transcript.alternate.hasSuffix(AlternateScreen.erase))
    }

    /// Catches a code that stays in the scrollback, one that no key covers, and keys that come out in the shell.
    @Test func aKeyCoversTheCode() throws {
        let desk = try Desk([
            .init(sign: pressKey) { desk in
                #expect(!desk.echoes, "what is typed is shown")
                desk.type("rm important\n")
            }
        ])
        showCode(on: desk.path)
        #expect(desk.echoes, "the echo stays off")
        #expect(!desk.hasTypedLine, "the shell gets what was typed")
        let transcript = desk.transcript()
        expectCovered(transcript)
        #expect(transcript.alternate.contains("    ABCDE-FGHIJ-KLMNO-PQRST-UVWXY-Z\n"))
        #expect(transcript.main.isEmpty && !transcript.all.contains("important"))
    }

    /// Catches a code that stands there as long as nobody comes, and somebody who comes back and does not know what to do.
    @Test func theTimeCoversTheCode() throws {
        let desk = try Desk()
        let start = Deadline.now
        showCode(on: desk.path, .short)
        #expect(Deadline.now - start >= 300)
        let transcript = desk.transcript()
        expectCovered(transcript)
        #expect(transcript.main.hasSuffix("down, make a new one with \"sudo signet recovery-code new\".\n"))
    }

    /// Catches keys from before the question that cover a code which nobody has seen yet.
    @Test func keysFromBeforeCoverNothing() throws {
        let desk = try Desk()
        desk.type("\n\n")
        desk.awaitTypedLine()
        let start = Deadline.now
        showCode(on: desk.path, .short)
        #expect(Deadline.now - start >= 300)
        expectCovered(desk.transcript())
    }

    /// Catches a second Enter, or a terminal's own report, that covers a code which nobody has read yet.
    @Test func keysOfTheFirstMomentCoverNothing() throws {
        let desk = try Desk([.init(sign: pressKey) { $0.type("\n\u{1B}[I") }])
        let start = Deadline.now
        showCode(on: desk.path, Exposure.Times(shown: 300, deaf: 300))
        #expect(Deadline.now - start >= 300)
        expectCovered(desk.transcript())
    }

    /// Catches a code that is cut by a narrow terminal.
    @Test func anotherSizeDrawsItAnew() throws {
        let desk = try Desk([
            .init(sign: pressKey) { #expect(signet_terminal_resize($0.master, 24, 20) == 0) },
            .init(sign: pressKey) { $0.type("x") },
        ])
        showCode(on: desk.path)
        let transcript = desk.transcript()
        expectCovered(transcript)
        let last = transcript.alternate.components(separatedBy: AlternateScreen.erase).dropLast().last ?? ""
        #expect(last.contains("    ABCDE-FGHIJ-\n    KLMNO-PQRST-\n    UVWXY-Z\n"))
        #expect(last.split(separator: "\n").allSatisfy { $0.count < 20 })
    }

    /// Catches control sequences on a terminal that shows them as they are, and a code that stays there without a word.
    @Test func aDumbTerminalGetsLines() throws {
        let desk = try Desk()
        showCode(on: desk.path, movesCursor: false)
        let transcript = desk.transcript()
        #expect(!transcript.all.contains("\u{1B}"))
        #expect(transcript.all.contains("    ABCDE-FGHIJ-KLMNO-PQRST-UVWXY-Z\n"))
        #expect(transcript.all.contains("It stays on this terminal"))
    }

    /// Catches a signal that ends the program while the code stands there, the echo off; and one that is lost.
    @Test(arguments: [SIGINT, SIGQUIT, SIGTERM, SIGHUP])
    func aSignalCoversItAndActs(number: Int32) async throws {
        let desk = try Desk([
            .init(sign: pressKey) { desk in
                switch number {
                case SIGINT: desk.type("\u{03}")
                case SIGQUIT: desk.type("\u{1C}")
                default: #expect(kill(-tcgetpgrp(desk.master), number) == 0)
                }
            }
        ])
        await #expect(processExitsWith: .exitCode(128 + number)) { [path = desk.path as String] in
            exit(runAsJob(on: path) { showCode(on: path) })
        }
        #expect(desk.echoes, "the echo stays off")
        let transcript = desk.transcript()
        expectCovered(transcript)
        #expect(transcript.main.contains("Your recovery code is covered."))
    }

    /// Catches a code that stands there while somebody else works in the shell, and one that comes back with the job.
    @Test func stoppingCoversItForGood() async throws {
        let desk = try Desk([.init(sign: pressKey) { $0.type("\u{1A}") }])
        await #expect(processExitsWith: .exitCode(0)) { [path = desk.path as String] in
            exit(runAsJob(on: path) { showCode(on: path) })
        }
        let transcript = desk.transcript()
        expectCovered(transcript)
        #expect(transcript.main.contains("Your recovery code is covered."))
        #expect(transcript.main.hasSuffix("<stopped, echo>"))
    }
}

@Suite struct ExposureTests {
    /// Catches a code that a redraw keeps on the screen for longer, and keys and signals that are told apart wrongly.
    @Test func theTimeIsCountedFromTheBeginning() {
        let exposure = Exposure(from: 1_000, .usual)
        #expect(exposure.step(after: .nothing, at: 1_000) == .wait(milliseconds: 60_000))
        #expect(exposure.step(after: .nothing, at: 60_999) == .wait(milliseconds: 1))
        #expect(exposure.step(after: .resized, at: 60_999) == .redraw)
        for happening in [AlternateScreen.Happening.nothing, .resized] {
            #expect(exposure.step(after: happening, at: 61_000) == .cover(.time))
            #expect(exposure.step(after: happening, at: Int64.max) == .cover(.time))
        }
        #expect(exposure.step(after: .key, at: 1_999) == .ignoreKeys)
        #expect(exposure.step(after: .key, at: 2_000) == .cover(.key))
        #expect(exposure.step(after: .key, at: 60_999) == .cover(.key))
        for now in [Int64(1_000), 61_000] {
            #expect(exposure.step(after: .signal, at: now) == .cover(.interrupted))
            #expect(exposure.step(after: .lost, at: now) == .cover(.interrupted))
        }
    }
}

@Suite struct EnrollmentScreenTests {
    private let finger = Finger(number: 7)
    private let reader = ReaderDescription(
        identity: ReaderIdentity(driver: Array("elan".utf8), device: Array("0".utf8)), place: .nowhere,
        name: Array("Elan".utf8), stages: 5, swipes: false, identifies: true, storesPrints: false, listsPrints: false)

    /// Everything that an enrollment shows, to the touch that confirms.
    private func enroll(_ screen: inout TerminalScreen) throws {
        screen.begin(try #require(finger), on: reader)
        screen.show(.stage(done: 1, of: 2))
        screen.show(.retry(.centreFinger))
        screen.show(.stage(done: 2, of: 2))
        screen.askForTouch(.confirm)
        screen.notRecognised()
    }

    /// Catches an enrollment that stays in the scrollback, and keys that come out in the shell.
    @Test func nothingOfItStays() throws {
        let desk = try Desk()
        var screen = TerminalScreen(path: desk.path, movesCursor: true)
        try enroll(&screen)
        #expect(!desk.echoes)
        desk.type("rm important\n")
        desk.awaitTypedLine()
        screen.end()
        #expect(desk.echoes && !desk.hasTypedLine)
        let transcript = desk.transcript()
        #expect(transcript.main.isEmpty && transcript.entered == 1 && transcript.left == 1)
        let retry = "1 of 2   \(RetryReason.centreFinger.sentence)"
        for sight in ["Elan", "right index", "1 of 2   Good", retry, "confirm"] {
            #expect(transcript.alternate.contains(sight), "\(sight)")
        }
    }

    /// Catches an enrollment on a screen with nothing on it, where the terminal could not be opened for a moment.
    @Test func aTerminalThatIsThereAgainIsWrittenOn() throws {
        let desk = try Desk()
        let link = NSTemporaryDirectory() + "signet-" + UUID().uuidString
        defer { unlink(link) }
        var screen = TerminalScreen(path: link, movesCursor: true)
        try #require(symlink(desk.path, link) == 0)
        try enroll(&screen)
        screen.end()
        #expect(desk.transcript().alternate.contains("right index"))
    }

    /// Catches a screen that stays where an error goes by every end, and signals that stay held.
    @Test func whoeverForgetsItLeavesIt() throws {
        let desk = try Desk()
        var before = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &before)
        do {
            var screen = TerminalScreen(path: desk.path, movesCursor: true)
            try enroll(&screen)
        }
        var after = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &after)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] {
            #expect(sigismember(&before, number) == sigismember(&after, number))
        }
        #expect(desk.echoes && desk.transcript().left == 1)
    }

    /// Catches "Nothing was changed." that goes away with the screen.
    @Test(arguments: [false, true])
    func cancellingIsSaidAfterwards(pinWasSet: Bool) throws {
        let desk = try Desk()
        var screen = TerminalScreen(path: desk.path, movesCursor: true)
        try enroll(&screen)
        screen.next = "sudo signet enroll"
        screen.cancelled(pinWasSet: pinWasSet)
        screen.end()
        let sentence =
            pinWasSet
            ? "The PIN is set; nothing else was changed. Go on with \"sudo signet enroll\".\n"
            : "Nothing was changed.\n"
        let transcript = desk.transcript()
        #expect(transcript.main == sentence && transcript.left == 1)
    }

    /// Catches a signal that acts before the screen is left, and before what has to be said is said.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGTSTP])
    func aSignalWaitsForTheEnd(number: Int32) async throws {
        let desk = try Desk()
        let code = number == SIGTSTP ? 0 : 128 + number
        await #expect(processExitsWith: .exitCode(code)) { [path = desk.path as String, number = number as Int32] in
            exit(
                runAsJob(on: path) {
                    let tests = EnrollmentScreenTests()
                    var screen = TerminalScreen(path: path, movesCursor: true)
                    try tests.enroll(&screen)
                    kill(getpid(), number)
                    screen.cancelled(pinWasSet: false)
                    screen.end()
                })
        }
        let transcript = desk.transcript()
        #expect(desk.echoes && transcript.entered == 1 && transcript.left == 1)
        #expect(transcript.main == "Nothing was changed.\n" + (number == SIGTSTP ? "<stopped, echo>" : ""))
    }

    /// Catches control sequences on a terminal that shows them as they are.
    @Test func aDumbTerminalGetsLines() throws {
        let desk = try Desk()
        var screen = TerminalScreen(path: desk.path, movesCursor: false)
        try enroll(&screen)
        screen.end()
        let transcript = desk.transcript()
        #expect(!transcript.all.contains("\u{1B}"))
        #expect(transcript.all.contains("\n1 of 2: good\n\(RetryReason.centreFinger.sentence)\n2 of 2: good\n"))
    }

    /// Catches a sentence of an enrollment that a small terminal breaks in the middle of a word.
    @Test(arguments: [UInt16(20), 40])
    func itsSentencesFit(columns: UInt16) throws {
        let desk = try Desk(columns: columns)
        var screen = TerminalScreen(path: desk.path, movesCursor: false)
        try enroll(&screen)
        screen.askForTouch(.name)
        screen.notRecognised()
        screen.next = "sudo signet enroll"
        screen.cancelled(pinWasSet: true)
        screen.end()
        let transcript = desk.transcript().all
        for line in transcript.split(separator: "\n") { #expect(line.count <= columns, "\(line)") }
        let words = transcript.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for sentence in [
            "Touch the reader, lift, and touch again, each time a little differently.",
            "The reader knows this finger already. Touch once more to see by what name.",
            "Go on with \"sudo signet enroll\".",
        ] { #expect(words.contains(sentence), "\(words)") }
    }

    /// Catches a bar that runs over the end of the line and can then not be drawn over.
    @Test(arguments: [UInt16(30), 50, 80])
    func theBarStaysOnItsLine(columns: UInt16) throws {
        let desk = try Desk(columns: columns)
        var screen = TerminalScreen(path: desk.path, movesCursor: true)
        try enroll(&screen)
        screen.end()
        for line in desk.transcript().alternate.split(separator: "\n") where line.contains("█") || line.contains("░") {
            for drawn in line.components(separatedBy: "\r\u{1B}[K") { #expect(drawn.count < Int(columns)) }
        }
    }
}
