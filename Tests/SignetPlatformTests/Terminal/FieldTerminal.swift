import CPlatform
import CTerminal
import Foundation
import SignetPolicy
import Testing

@testable import SignetPlatform

/// A pseudo-terminal, what was written to it, and what it shows.
final class FieldTerminal {
    let master: Int32
    let path: [UInt8]
    /// The program's own opening of it: what a shell sees.
    let program: Int32
    private(set) var written: [UInt8] = []
    private(set) var screen: ScreenModel
    /// The modes before anything was done.
    let before: termios

    init(width: Int = 80) {
        var name = [CChar](repeating: 0, count: 64)
        master = signet_terminal_open(&name, name.count)
        path = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        program = signet_openat(AT_FDCWD, name, O_RDWR | O_NOCTTY | O_CLOEXEC, 0)
        screen = ScreenModel(width: width)
        _ = signet_terminal_resize(master, 24, UInt16(width))
        var modes = termios()
        tcgetattr(program, &modes)
        before = modes
    }

    deinit {
        close(program)
        close(master)
    }

    /// Hangs the terminal up.
    func hangUp() { dup2(signet_openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0), master) }

    func type(_ bytes: [UInt8]) { #expect(write(master, bytes, bytes.count) == bytes.count) }
    func type(_ text: String) { type(Array(text.utf8)) }

    /// Waits until something typed can be read, at most two seconds.
    func awaitInput() -> Bool {
        var ready = pollfd(fd: program, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, 2000) == 1
    }

    func makeRaw() {
        var modes = termios()
        tcgetattr(program, &modes)
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        tcsetattr(program, TCSANOW, &modes)
    }

    func resize(to width: Int) {
        _ = signet_terminal_resize(master, 24, UInt16(width))
        screen.resize(to: width)
    }

    /// Takes what the program wrote; what comes later than the milliseconds is not waited for.
    func look(_ milliseconds: Int32 = 0) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = signet_read_within(master, &bytes, bytes.count, milliseconds)
            guard count > 0 else { return }
            written += bytes[..<count]
            screen.feed(Array(bytes[..<count]))
        }
    }

    /// Whether the modes are again what they were.
    var isAsBefore: Bool {
        var now = termios()
        guard tcgetattr(program, &now) == 0 else { return false }
        return now.c_lflag == before.c_lflag && now.c_iflag == before.c_iflag && now.c_oflag == before.c_oflag
    }

    func forgetWritten() { written = [] }

    /// Attends until the screen shows it, or something happens; after two seconds neither will.
    @discardableResult
    func attend(_ field: inout TerminalField, until isShown: (ScreenModel) -> Bool) -> FieldEvent? {
        let end = Date(timeIntervalSinceNow: 2)
        while Date() < end {
            if let event = field.attend() { return event }
            look(1)
            if isShown(screen) { return nil }
        }
        Issue.record("the screen shows \(screen.rows)")
        return nil
    }

    /// Attends until something happens.
    func event(_ field: inout TerminalField) -> FieldEvent? { attend(&field) { _ in false } }

    /// Attends until the screen shows these rows.
    func expect(_ rows: [String], _ field: inout TerminalField, _ place: SourceLocation = #_sourceLocation) {
        let event = attend(&field) { $0.rows == rows }
        #expect(event == nil && screen.rows == rows, sourceLocation: place)
    }

    /// Looks until the screen shows these rows, the field doing nothing.
    func expectScreen(_ rows: [String], _ place: SourceLocation = #_sourceLocation) {
        let end = Date(timeIntervalSinceNow: 2)
        repeat { look(1) } while screen.rows != rows && Date() < end
        #expect(screen.rows == rows, sourceLocation: place)
    }
}

func termiosWith(erase: UInt8, interrupt: UInt8) -> termios {
    var modes = termios()
    modes.c_lflag = tcflag_t(ISIG)
    ControlKeys.withCharacters(of: &modes) { characters in
        characters[Int(VERASE)] = erase
        characters[Int(VINTR)] = interrupt
    }
    return modes
}

/// `#require` for what has one owner.
func one<Value: ~Copyable>(_ value: consuming Value?) throws -> Value {
    guard let value else { throw Absent() }
    return value
}

struct Absent: Error {}
