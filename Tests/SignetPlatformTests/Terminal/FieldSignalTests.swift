import CPlatform
import CTerminal
import Foundation
import SignetEngine
import SignetPolicy
import SignetSecrets
import Testing

@testable import SignetPlatform

/// Signals at an open field; `raise` sends to this thread alone.
@Suite struct FieldSignalTests {
    private func isBlocked(_ number: Int32) -> Bool {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        return sigismember(&mask, number) == 1
    }

    /// Runs `body` with no signal blocked: the threads of a test's runner block most of them.
    private func unblocked(_ body: () throws -> Void) rethrows {
        var none = sigset_t(), before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    private func opened(_ terminal: FieldTerminal, _ style: FieldStyle = FieldStyle()) throws -> TerminalField {
        var field = try one(TerminalField(path: terminal.path, style))
        let isOpen = field.open("Type your PIN: ")
        try #require(isOpen)
        terminal.expectScreen(["Type your PIN:"])
        terminal.type("12")
        terminal.expect(["Type your PIN: **"], &field)
        return field
    }

    /// Catches masks that a resize leaves on the screen, and what was typed that outlives it.
    @Test(arguments: [12, 40]) func resize(width: Int) throws {
        let terminal = FieldTerminal(width: 20)
        var field = try opened(terminal)
        terminal.resize(to: width)
        raise(SIGWINCH)
        terminal.expect(width == 12 ? ["Type your", "PIN:"] : ["Type your PIN:"], &field)
        terminal.type("34\r")
        #expect(terminal.event(&field) == .answered)
        let answer = try field.takeAnswer()
        #expect(answer.count == 2)
    }

    /// Catches modes that another set while the program was stopped, and that stay; the echo would show the PIN.
    @Test func resumed() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal)
        var modes = terminal.before
        tcsetattr(terminal.program, TCSANOW, &modes)
        _ = "\r\nstopped\r\n".withCString { write(terminal.program, $0, strlen($0)) }
        terminal.look(20)
        raise(SIGCONT)
        terminal.expect(["Type your PIN: **", "stopped", "Type your PIN:"], &field)
        #expect(signet_terminal_echoes(terminal.master) == 0)
        field.close()
        #expect(terminal.isAsBefore)
    }

    /// Catches a signal that acts while the field stands there, or that is swallowed.
    @Test(arguments: [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGALRM]) func ending(number: Int32) throws {
        try unblocked {
            let terminal = FieldTerminal()
            do {
                var field = try opened(terminal)
                raise(number)
                #expect(terminal.event(&field) == .cancelled)
                terminal.expectScreen([])
                // Still there to act when it is let go.
                #expect(signet_take_pending(number) == 1)
                field.close()
                // The caller settles its charge first.
                #expect(isBlocked(number) && terminal.isAsBefore)
            }
            #expect(!isBlocked(number))
        }
    }

    /// Catches a signal that ends an absence and acts before the caller has settled and journalled what is open.
    @Test func endingAnAbsence() throws {
        try unblocked {
            let terminal = FieldTerminal()
            do {
                var field = try opened(terminal)
                terminal.type("\u{1B}[O")
                #expect(terminal.event(&field) == .left)
                raise(SIGTERM)
                var failure: ConversationError?
                do throws(ConversationError) { try field.awaitReturn("PIN: ") } catch { failure = error }
                #expect(failure == .cancelled && !field.isOpen && terminal.isAsBefore)
                #expect(isBlocked(SIGTERM) && signet_take_pending(SIGTERM) == 1)
            }
            #expect(!isBlocked(SIGTERM))
        }
    }

    /// Catches a sudo that is stopped from outside with its ticket's lock.
    @Test func whoMustNotStopDoesNot() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal, FieldStyle(mayStop: false))
        raise(SIGTSTP)
        #expect(terminal.event(&field) == .cancelled)
        #expect(signet_take_pending(SIGTSTP) == 0)
    }

    /// Catches signals that stay blocked, or are let go too early, where reader and field hold them at the same time.
    @Test(arguments: [true, false]) func twoHolders(fieldFirst: Bool) throws {
        try unblocked {
            let terminal = FieldTerminal()
            var reader = HeldSignals()
            var field = try one(TerminalField(path: terminal.path, FieldStyle()))
            let holds = reader.hold()
            let isOpen = field.open("PIN: ")
            #expect(holds && isOpen && isBlocked(SIGTERM) && isBlocked(SIGWINCH))
            if fieldFirst { field.close() } else { reader.release() }
            #expect(isBlocked(SIGTERM) && isBlocked(SIGWINCH) != fieldFirst)
            field.close()
            reader.release()
            let all = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGALRM, SIGCONT, SIGWINCH]
            for number in all { #expect(!isBlocked(number)) }
        }
    }

    /// Catches a signal that the caller blocks and that is let go with ours.
    @Test func whatTheCallerBlocksStaysBlocked() throws {
        try unblocked {
            let terminal = FieldTerminal()
            var one = sigset_t()
            sigemptyset(&one)
            sigaddset(&one, SIGALRM)
            pthread_sigmask(SIG_BLOCK, &one, nil)
            defer { pthread_sigmask(SIG_UNBLOCK, &one, nil) }
            var field = try opened(terminal)
            field.close()
            #expect(isBlocked(SIGALRM) && !isBlocked(SIGTERM))
        }
    }

    /// Catches a caller that blocks the stop signal, and a field that lets the person leave again and again for it.
    @Test func aStopThatCannotBe() throws {
        let terminal = FieldTerminal()
        var stop = sigset_t()
        sigemptyset(&stop)
        sigaddset(&stop, SIGTSTP)
        pthread_sigmask(SIG_BLOCK, &stop, nil)
        defer { pthread_sigmask(SIG_UNBLOCK, &stop, nil) }
        var field = try opened(terminal)
        raise(SIGTSTP)
        #expect(terminal.event(&field) == .left)
        try field.awaitReturn("PIN: ")
        terminal.expect(["PIN:"], &field)
        field.close()
    }

    /// Catches Ctrl-Z that does not stop the job, or leaves the prompt, the modes or what was typed behind; a return that
    /// asks in the background; and one that asks with the old PIN still there.
    @Test func stoppedAndBack() async {
        await #expect(processExitsWith: .success) {
            alarm(20)
            // The threads of a test's runner block most signals, and children inherit that.
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            signal(SIGTTOU, SIG_IGN)
            let terminal = FieldTerminal()
            let path = terminal.path.map { CChar(bitPattern: $0) } + [0]
            // A shell of our own: it leads the session, and has one job.
            let shell = startProcess {
                alarm(20)
                setsid()
                let tty = signet_openat(AT_FDCWD, path, O_RDWR, 0)
                require(tty >= 0, 10)
                let job = startProcess {
                    signal(SIGTTOU, SIG_DFL)
                    alarm(20)
                    setpgid(0, 0)
                    while tcgetpgrp(tty) != getpgrp() { usleep(1000) }
                    guard var field = TerminalField(FieldStyle()), field.open("PIN: ") else { _exit(20) }
                    do {
                        let answer = try field.awaitAnswer(orEmpty: false)
                        _exit(answer.count == 2 && answer.withBytes { $0[0] } == 0x33 ? 0 : 21)
                    } catch { _exit(22) }
                }
                setpgid(job, job)
                tcsetpgrp(tty, job)
                func awaitStop(by number: Int32) {
                    var status: Int32 = 0
                    require(waitpid(job, &status, WUNTRACED) == job, 11)
                    require(status & 0xFF == 0x7F && status >> 8 & 0xFF == number, 12)
                    var modes = termios()
                    tcgetattr(tty, &modes)
                    let asKeys = tcflag_t(ECHO | ICANON | ISIG)
                    require(modes.c_lflag & asKeys == asKeys, 13)
                }
                for _ in 0..<2 {
                    awaitStop(by: SIGTSTP)
                    tcsetpgrp(tty, getpgrp())
                    _ = write(tty, "S\r\n", 3)
                    // Let go on in the background, it stops again.
                    kill(-job, SIGCONT)
                    awaitStop(by: SIGTTIN)
                    tcsetpgrp(tty, job)
                    kill(-job, SIGCONT)
                }
                require(end(of: job) == 0, 15)
            }
            func see(_ rows: [String], _ number: Int32) {
                let end = Date(timeIntervalSinceNow: 3)
                repeat { terminal.look(1) } while terminal.screen.rows != rows && Date() < end
                if terminal.screen.rows != rows { print(terminal.screen.rows) }
                require(terminal.screen.rows == rows, number)
            }
            see(["PIN:"], 30)
            terminal.type("12")
            see(["PIN: **"], 31)
            terminal.type("\u{1A}")
            see(["S", "PIN:"], 32)
            terminal.type("9\u{1A}")
            see(["S", "S", "PIN:"], 33)
            terminal.type("34\r")
            require(end(of: shell) == 0, 34)
            see(["S", "S"], 35)
        }
    }
}
