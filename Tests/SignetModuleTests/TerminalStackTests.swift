import CTerminal
import Foundation
import PAMShim
import Testing

/// The shipped module on a terminal of its own, by a program whose conversation fails: what is asked, Signet asked itself.
@Suite(.enabled(if: Stack.isBuilt, "scripts/build module tools has not run")) struct TerminalStackTests {
    private static let prompt = "[signet-test: nobody-is-called-this] Type your PIN: "

    // Would catch a PIN that goes through the program's conversation, or that is shown.
    @Test func aProgramOnATerminalIsNotAsked() throws {
        let shown = try run(options: "", types: "739628\r")
        #expect(shown.contains(Self.prompt))
        #expect(shown.contains("code \(PAM_USER_UNKNOWN) "))
        #expect(shown.contains("left nothing"))
        #expect(!shown.contains("739628"))
    }

    // Would catch escape sequences for a terminal that shows them as they are.
    @Test(arguments: ["", "dumb", "unknown"]) func aDumbTerminalGetsNoSequences(type: String) throws {
        let shown = try run(options: "", term: type, types: "739628\r")
        #expect(shown.contains(Self.prompt))
        #expect(shown.contains("code \(PAM_USER_UNKNOWN) "))
        #expect(!shown.contains("\u{1B}"))
    }

    // Would catch a field where the program has to ask: it was told so, or it talks to something else than its terminal.
    @Test(arguments: [
        ("prompt=conversation", "$(tty)", ""), ("", "/dev/null", ""), ("", ":0", ""), ("", "$(tty)", "< /dev/null"),
    ]) func elsewhereTheProgramIsAsked(argument: String, terminal: String, redirection: String) throws {
        let shown = try run(argument: argument, options: "", terminal: terminal, redirection: redirection)
        #expect(shown.contains("code \(PAM_AUTH_ERR) "))
        #expect(!shown.contains("PIN"))
    }

    // Would catch a job in the background that is stopped by its prompt, or that takes the keys meant for another.
    @Test func aBackgroundJobIsRefusedAtOnce() throws {
        let shown = try run(options: "& wait", types: "x")
        #expect(
            shown.contains("A background job cannot ask for your PIN. Bring it to the foreground and run it again."))
        #expect(shown.contains("code \(PAM_AUTH_ERR) "))
        #expect(!shown.contains(Self.prompt))
    }

    // Would catch a sentence that stops the job, of which nobody would then hear again.
    @Test func aBackgroundJobThatMayNotWriteIsRefusedToo() throws {
        let shown = try run(options: "> report & wait; cat report", before: "stty tostop; cd $(mktemp -d)")
        #expect(!shown.contains("background job"))
        #expect(shown.contains("code \(PAM_AUTH_ERR) "))
    }

    /// Runs `pamhost` from a shell with job control on a new terminal; answers all that it showed.
    private func run(
        argument: String = "", options: String, term: String = "xterm", terminal: String = "$(tty)",
        redirection: String = "", before: String = "true", types: String = ""
    ) throws -> String {
        let folder = try Stack.install("auth required \(Stack.module) \(argument)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let command = """
            set -m; \(before)
            \(folder.path)/pamhost --folder \(folder.path) --conversation failing --item tty="\(terminal)" \
            signet-test nobody-is-called-this \(redirection) \(options)
            """
        var child = signet_child()
        let arguments = Stack.asNobody + ["/bin/bash", "--norc", "-c", command]
        try withStrings(["/usr/bin/env"] + arguments) { argv in
            try withStrings(["TERM=\(term)", "PATH=/usr/bin:/bin"]) { environment in
                // SAFETY: both lists end with null and live through the call.
                let error = unsafe signet_terminal_spawn(argv, environment, getuid(), 24, 80, &child)
                try #require(error == 0)
            }
        }
        defer { close(child.input) }
        var shown: [UInt8] = []
        var hasTyped = types.isEmpty
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            // SAFETY: the buffer lives through the call, which is told its length.
            let count = unsafe signet_read_within(child.input, &buffer, buffer.count, 20_000)
            if count <= 0 {
                // Nothing for 20 seconds: a job that waits, or is stopped, for ever.
                if count == -2 {
                    kill(child.pid, SIGKILL)
                    Issue.record("it hangs")
                }
                break
            }
            shown += buffer[..<count]
            if !hasTyped, String(decoding: shown, as: UTF8.self).contains("PIN") {
                hasTyped = true
                let bytes = Array(types.utf8)
                // SAFETY: as above.
                _ = unsafe write(child.input, bytes, bytes.count)
            }
        }
        var status: Int32 = 0
        // SAFETY: `status` outlives the call.
        _ = unsafe signet_wait_within(child.pid, 5000, &status)
        return String(decoding: shown, as: UTF8.self)
    }

    /// A list of C strings that ends with null, for the time of the call.
    private func withStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) throws -> Result
    ) rethrows -> Result {
        var list: [UnsafePointer<CChar>?] = []
        for string in strings { unsafe list.append(UnsafePointer(strdup(string))) }
        defer { for string in unsafe list { unsafe free(UnsafeMutablePointer(mutating: string)) } }
        unsafe list.append(nil)
        // SAFETY: the list is not empty, and its strings live until the deferred free.
        return try unsafe list.withUnsafeBufferPointer { try unsafe body($0.baseAddress!) }
    }
}
