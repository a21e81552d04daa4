import Glibc
import Testing

/// The prompt in a program that handles the signals by which a job in the background stops, and so does not stop there.
@Suite(.serialized, .inWorld, .withProduct) struct PromptHandlerTests {
    /// How the program handles SIGTTIN and SIGTTOU; with `restarts` the kernel repeats the call, and the signal.
    enum Handling: String, CaseIterable {
        case restarts = "SA_RESTART"
        case interrupts = "0"
    }

    /// How the program was stopped before it went on in the background.
    enum Stop: CaseIterable {
        case key, outside
    }

    // Would catch a prompt that waits in the background for a stop that never comes, and eats the processor meanwhile.
    @Test(arguments: Handling.allCases, Stop.allCases)
    func goesOnInTheBackgroundAndEnds(_ handling: Handling, _ stop: Stop) throws {
        let library = try handlers(handling)
        try Enrolled.with { alice in
            try Signet.alone { service in
                let shell = try Shell()
                let terminal = shell.terminal
                // Writing in the background is signalled too; the report goes to a file, for pamhost itself would loop there.
                let report = try World.scratchFolder() + "/report"
                try shell.run("stty tostop")
                try shell.waitForPrompt()
                let host = PAMHost.command(service, alice.user.name, options: ["--conversation", "field"])
                try shell.run("LD_PRELOAD=\(library) \(host.joined(separator: " ")) > \(report)")
                try alice.arm(terminal)
                try terminal.type("80")
                try terminal.waitForMasks(2)
                let process = try #require(Processes.children(of: terminal.process, named: "pamhost").first)
                switch stop {
                case .key: try terminal.type("\u{1A}")
                case .outside: kill(process, SIGSTOP)
                }
                try shell.waitForPrompt()
                let before = Processes.ticks(process)
                try shell.run("bg")
                try shell.waitForPrompt()
                // The shell takes it in when it is asked for a command again.
                try Processes.wait("its end") { ["Z", nil].contains(Processes.state(process)) }
                #expect(Processes.ticks(process) - before < 100)
                let rounds = try PAMHost(report: try File.read(report)).rounds
                #expect(rounds.map(\.code) == [7])
                #expect(rounds.flatMap(\.left).isEmpty)
                try SensorProcess.waitForNone(within: 1)
                #expect(try alice.fingerFailures() == 0)
            }
        }
    }

    /// Builds a library that gives whoever loads it the handlers before anything else runs.
    private func handlers(_ handling: Handling) throws -> String {
        let folder = try World.scratchFolder()
        let source = """
            #include <signal.h>
            static void handle(int number) { (void)number; }
            __attribute__((constructor)) static void install(void) {
                struct sigaction action = {.sa_handler = handle, .sa_flags = \(handling.rawValue)};
                sigaction(SIGTTIN, &action, 0);
                sigaction(SIGTTOU, &action, 0);
            }
            """
        // The compiler of the toolchain that runs the tests; their programs start with a PATH of their own.
        let path = String(cString: try #require(getenv("PATH")))
        let clang = #"PATH=$0; exec "$(dirname "$(readlink -f "$(command -v swift)")")/clang" "$@""#
        let options = ["-shared", "-fPIC", "-x", "c", "-", "-o", "\(folder)/handlers.so"]
        let built = try Command.run(["bash", "-c", clang, path] + options, input: source)
        guard built.code == 0 else { throw HarnessError("the handlers were not built: \(built.error)") }
        return folder + "/handlers.so"
    }
}
