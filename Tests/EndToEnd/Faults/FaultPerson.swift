import Glibc

/// A person who does at each prompt what they came to do, and goes away where they are asked for something else.
enum FaultPerson {
    /// How prompts of Signet's own, and of a program's field where the terminal could not be used, end.
    private static let ends = ["PIN: ", "): ", "activate\": ", "on again: ", "Password: "]

    /// Types a PIN at each prompt for one, three times at the most, and then cancels.
    ///
    /// `others`: what is typed at prompts that begin with these words.
    static func types(_ pin: String, others: [(prompt: String, answer: String)] = []) -> (Terminal) throws -> Void {
        { terminal in
            var given = [Int](repeating: 0, count: others.count + 1)
            while let prompt = waitForPrompt(terminal, others.map(\.prompt) + ends) {
                let index = min(prompt, others.count)
                waitForNoEcho(terminal)
                given[index] += 1
                if given[index] > 3 { return try terminal.type("\u{4}") }
                try? terminal.type(line: index < others.count ? others[index].answer : pin)
            }
        }
    }

    /// Lays this finger on the reader whenever it is asked for; cancels where only a PIN is.
    static func touches(_ finger: String, on reader: VirtualReader) -> (Terminal) throws -> Void {
        { terminal in
            // A prompt that only begins with "PIN: " offers a touch when the reader is open.
            let prompts = [
                Offer.touch, Offer.refused, "press Enter and touch the reader: ", "ype your PIN", "): ", "Password: ",
            ]
            while let prompt = waitForPrompt(terminal, prompts) {
                if prompt < 3 {
                    if prompt == 2 { try? terminal.type(line: "") }
                    _ = try? reader.send("SCAN \(finger)", within: 2)
                } else {
                    waitForNoEcho(terminal)
                    try? terminal.type("\u{4}")
                }
            }
        }
    }

    /// The place in the list of the prompt that comes first; nil at the program's end.
    ///
    /// Who is asked nothing for a long time, because the question got lost, presses Ctrl-D, which ends a program's own
    /// field without a signal, too.
    static func waitForPrompt(_ terminal: Terminal, _ prompts: [String]) -> Int? {
        if let prompt = try? terminal.waitForAny(prompts, within: 9) { return prompt.index }
        guard !terminal.isOver else { return nil }
        try? terminal.type("\u{4}")
        return try? terminal.waitForAny(prompts, within: 30).index
    }

    /// A prompt that never takes the echo away gets its answer after a while all the same.
    static func waitForNoEcho(_ terminal: Terminal) {
        let end = monotonicMilliseconds() + 1000
        while terminal.echoes, !terminal.isOver, monotonicMilliseconds() < end { try? terminal.gather(within: 2) }
    }
}
