/// A program that ran to its end on pipes, without a terminal.
struct Command {
    /// The exit code, or 128 and the signal's number.
    let code: Int
    let output: String
    let error: String

    /// Runs a program with `input` as all of its standard input; throws when it does not end in time.
    @discardableResult
    static func run(
        _ arguments: [String], as user: User? = nil, input: String = "",
        environment: [String: String] = Child.environment, within seconds: Double = 30
    ) throws -> Command {
        let child = try Child(arguments, as: user, environment: environment, attachment: .pipes)
        // A program that does not read its input is no failure of the test.
        try? child.write(Array(input.utf8))
        child.closeInput()
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        var texts: [[UInt8]] = [[], []]
        var open = [true, true]
        var code: Int?
        // A child that the program left behind may hold the pipes: after the program's end only what is there is read.
        while open != [false, false] || code == nil {
            let wait = code == nil ? 20 : 0
            var quiet = true
            for stream in 0...1 where open[stream] {
                switch try child.read(within: wait, fromError: stream == 1) {
                case .bytes(let bytes):
                    texts[stream] += bytes
                    quiet = false
                case .end: open[stream] = false
                case .nothing: break
                }
            }
            if code != nil, quiet { break }
            code = try code ?? child.wait(within: open == [false, false] ? max(end - monotonicMilliseconds(), 0) : 0)
            if code == nil, monotonicMilliseconds() >= end {
                let written = texts.map { String(decoding: $0, as: UTF8.self) }
                throw HarnessError("\(arguments) still runs after \(seconds) s; it wrote: \(written)")
            }
        }
        return Command(
            code: code ?? -1, output: String(decoding: texts[0], as: UTF8.self),
            error: String(decoding: texts[1], as: UTF8.self))
    }

    /// Runs a program as root that must succeed; answers its output.
    @discardableResult
    static func must(_ arguments: String..., input: String = "") throws -> String {
        let result = try run(arguments, input: input)
        guard result.code == 0 else {
            throw HarnessError("\(arguments) answered \(result.code): \(result.error)\(result.output)")
        }
        return result.output
    }
}
