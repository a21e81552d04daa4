internal import CPlatform

@main struct Main {
    static func main() {
        holdStandardDescriptors()
        // A reader of our output that goes away must not kill us between a charge and its settling.
        signet_ignore_signal(SIGPIPE)
        // Nor may a limit on the size of files (RLIMIT_FSIZE): write(2) answers EFBIG then, which is told as any failure.
        signet_ignore_signal(SIGXFSZ)
        signet_crash_quietly()
        // Swift finds them by way of /proc. Without them this would be another command, which does nothing and says yes.
        let words = CommandLine.arguments
        let done = words.isEmpty ? refuseWithoutArguments() : run(Array(words.dropFirst()))
        exit(Output.settled(done).rawValue)
    }

    /// Puts something unusable where a standard descriptor is closed.
    ///
    /// Else the next file to be opened had its number: a record of the store would be read as a PIN, or written over with
    /// an answer. With the wrong direction each use fails with EBADF, as it does where nothing is there.
    private static func holdStandardDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO {
            var status = stat()
            // SAFETY: `status` lives through the call.
            if unsafe fstat(number, &status) == 0 || signet_errno() != EBADF { continue }
            // The lowest free number is taken, which is this one, since those below are open (open(2)).
            // SAFETY: the literal is a terminated string.
            _ = unsafe signet_openat(AT_FDCWD, "/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY, 0)
        }
    }

    private static func refuseWithoutArguments() -> ExitCode {
        Output.message("its arguments cannot be read", hint: "try again, and see that /proc is mounted")
        return .no
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
                Output.page(help.text(commands) ?? "")
                return .yes
            }
        } catch {
            if arguments.contains(Option.json.name) { Output.data(Output.json(FailureAnswer(error))) }
            Output.message(error.message, hint: error.hint)
            return error.exit
        }
    }
}
