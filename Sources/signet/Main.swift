internal import CPlatform

@main struct Main {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "pam" { exit(PAMCommand.run(Array(arguments.dropFirst()))) }
        exit(2)
    }
}
