internal import CPlatform

@main struct Main {
    static func main() {
        // A reader of our output that goes away must not kill us between a charge and its settling.
        signet_ignore_signal(SIGPIPE)
        // Nor may a limit on the size of files (RLIMIT_FSIZE): write(2) answers EFBIG then, which is told as any failure.
        signet_ignore_signal(SIGXFSZ)
        signet_crash_quietly()
        let done = run(Array(CommandLine.arguments.dropFirst()))
        exit(Output.settled(done).rawValue)
    }

    /// Does what the arguments ask for.
    static func run(_ arguments: [String]) -> ExitCode {
        let commands = Verbs.all
        do throws(Failure) {
            switch try Parser(commands: commands).parse(arguments) {
            case .run(let invocation): return try invocation.command.run(invocation)
            case .version(let json):
                VersionAnswer().give(asJSON: json)
                return .yes
            case .help(let help):
                Output.data(help.text(commands) ?? "")
                return .yes
            }
        } catch {
            if arguments.contains(Option.json.name) { Output.data(Output.json(FailureAnswer(error))) }
            Output.message(error.message, hint: error.hint)
            return error.exit
        }
    }
}
