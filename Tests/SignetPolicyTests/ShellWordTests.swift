import Foundation
import Testing

@testable import SignetPolicy

@Suite struct ShellWordTests {
    /// Catches quotes around names that need none, and a name that no shell gives back.
    @Test(arguments: [
        ("alice", "alice"), ("a.b_c-d@example.org", "a.b_c-d@example.org"), ("0", "0"),
        ("DOM\\joe", "'DOM\\joe'"), ("x$(id)", "'x$(id)'"), ("a;id", "'a;id'"), ("a b", "'a b'"), ("~", "'~'"),
        ("a'b", "'a'\\''b'"), ("host$", "'host$'"), ("ä", "'ä'"), ("*", "'*'"), ("a\"b", "'a\"b'"), ("!!", "'!!'"),
    ]) func isOneWord(name: String, word: String) {
        #expect(ShellWord.quoted(Array(name.utf8)) == word)
    }

    /// Catches a name that is told in another form than it has, or that a command takes for an option.
    @Test(arguments: [
        [], Array("--help".utf8), Array("a\nid".utf8), Array("a\u{1B}b".utf8), Array("a\u{202E}b".utf8), [0x61, 0xFF],
        [UInt8](repeating: 0x61, count: 65),
    ]) func whatCannotBeToldIsLeftOut(name: [UInt8]) {
        #expect(ShellWord.quoted(name) == "USER")
    }

    /// Catches a word that a real shell takes for anything but one argument, the name itself.
    @Test func aShellGivesTheNameBack() throws {
        let names = (UInt8(0x20)...0x7E).flatMap { [[0x61, $0], [0x61, $0, 0x62], [$0, $0, 0x27]] }.filter {
            $0[0] != 0x2D
        }
        let shell = Process()
        let output = Pipe()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "printf '<%s>' " + names.map { ShellWord.quoted($0) }.joined(separator: " ")]
        shell.standardOutput = output
        try shell.run()
        let said = try output.fileHandleForReading.readToEnd().map { Array($0) }
        shell.waitUntilExit()
        #expect(said == names.flatMap { Array("<".utf8) + $0 + Array(">".utf8) })
    }
}
