import SignetPlatform
import Testing

@Suite struct SudoArgumentsTests {
    private func avoids(_ words: [String]) -> Bool {
        SudoArguments.avoidTerminal(words.flatMap { Array($0.utf8) + [0] })
    }

    /// Catches a password from standard input or a helper that would have to be typed at the terminal.
    @Test(arguments: [
        ["sudo", "-S", "id"], ["sudo", "-A", "id"], ["sudo", "-n", "id"], ["sudo", "--stdin", "id"],
        ["sudo", "--askpass", "id"], ["sudo", "--non-interactive", "id"], ["sudo", "--std", "id"],
        ["sudo", "--st", "id"], ["sudo", "--ask", "id"], ["sudo", "--as", "id"], ["sudo", "--non", "id"],
        ["sudo", "-kS", "id"], ["sudo", "-Sk", "id"], ["sudo", "-EHkS", "id"], ["sudo", "-k", "-S", "id"],
        ["sudo", "-u", "bob", "-S", "id"], ["sudo", "-ubob", "-S", "id"], ["sudo", "-ku", "bob", "-S", "id"],
        ["sudo", "--user", "bob", "-S", "id"], ["sudo", "--user=bob", "-S", "id"], ["sudo", "--us", "bob", "-S", "id"],
        ["sudo", "A=b", "-S", "id"], ["sudo", "-E", "A=", "B=-c", "-S", "id"], ["sudo", "-p", "", "-S", "id"],
        ["sudo", "-p", "--", "-S", "id"], ["sudo", "--preserve-env=A,B", "-S"], ["sudo", "--preserve-env", "-S"],
        ["sudo", "-h", "host", "-S", "id"], ["sudo", "-hhost", "-S", "id"], ["sudo", "-h", "-S"],
        ["sudo", "-h", "A=b", "-S"], ["sudo", "--host", "host", "-S"], ["sudo", "-i", "-S"], ["sudo", "-l", "-S"],
        ["/usr/bin/sudoedit", "--s", "/etc/hosts"], ["sudoedit", "-S", "/etc/hosts"],
    ]) func asksElsewhere(words: [String]) { #expect(avoids(words)) }

    /// Catches an option's argument, the command's own options or a variable taken for sudo's: the one prompt would be
    /// missing there.
    @Test(arguments: [
        ["sudo", "id"], ["sudo", "id", "-S"], ["sudo", "--", "id", "-S"], ["sudo", "--", "-S"], ["sudo", "-", "-S"],
        ["sudo", "-u", "S"], ["sudo", "-uS", "id"], ["sudo", "-u", "-S", "id"], ["sudo", "-p", "-S", "x"],
        ["sudo", "-ku", "-S", "id"], ["sudo", "-pS", "id"], ["sudo", "--prompt", "-S", "id"],
        ["sudo", "--prompt=-S", "id"], ["sudo", "--pro", "-S", "id"], ["sudo", "-C", "-S"], ["sudo", "-D", "-S"],
        ["sudo", "-g", "-S"], ["sudo", "-R", "-S"], ["sudo", "-r", "-S"], ["sudo", "-t", "-S"], ["sudo", "-T", "-S"],
        ["sudo", "-U", "-S"], ["sudo", "-a", "-A"], ["sudo", "-c", "-n"], ["sudo", "-hS", "id"],
        ["sudo", "-h", "host", "-u", "-S"], ["sudo", "A=-S", "id"], ["sudo", "/x=y", "-S"], ["sudo", "=x", "-S"],
        ["sudo", "", "-S"], ["sudo", "--s", "id"], ["sudo", "--stdout", "id"], ["sudo", "--shell", "id"],
        ["sudo", "-s", "id", "-S"], ["sudo", "-i"], ["sudo", "--login-class", "-S"], ["sudo", "--command", "-S"],
        ["sudo", "--type", "-S"], ["sudo", "--close", "-S"], ["sudo", "--chr", "-S"], ["sudo"], [],
    ]) func asksHere(words: [String]) { #expect(!avoids(words)) }

    /// Catches a cut command line whose half last word is read as an option.
    @Test func halfAWord() {
        #expect(!SudoArguments.avoidTerminal(Array("sudo\0-S".utf8)))
        #expect(!SudoArguments.avoidTerminal(Array("sudo".utf8)))
        #expect(SudoArguments.avoidTerminal(Array("sudo\0-S\0i".utf8)))
    }

    /// Catches a path that is wrong on a real machine, and arguments of this very process that are taken for sudo's.
    @Test func thisProcess() { #expect(!SudoArguments.avoidTerminal()) }
}
