import Glibc

/// A person who does at each prompt what they came to do, and goes away where they are asked for something else.
enum FaultPerson {
    /// Types one of these at each prompt for a PIN; cancels when they are used up.
    static func types(_ answers: [String]) -> (Terminal) throws -> Void {
        { terminal in
            var rest = answers[...]
            while (try? terminal.waitForAny(["PIN: ", "): "], within: 30)) != nil {
                waitForNoEcho(terminal)
                if let answer = rest.popFirst() {
                    try? terminal.type(line: answer)
                } else {
                    try? terminal.type("\u{3}")
                }
            }
        }
    }

    /// Lays this finger on the reader whenever it is asked for; cancels where only a PIN is.
    static func touches(_ finger: String, on reader: VirtualReader) -> (Terminal) throws -> Void {
        { terminal in
            while let prompt = try? terminal.waitForAny(
                [Offer.touch, Offer.refused, "ype your PIN", "): "], within: 30)
            {
                if prompt.index < 2 {
                    _ = try? reader.send("SCAN \(finger)", within: 2)
                } else {
                    waitForNoEcho(terminal)
                    try? terminal.type("\u{3}")
                }
            }
        }
    }

    /// A prompt that never takes the echo away gets its answer after a while all the same.
    static func waitForNoEcho(_ terminal: Terminal) {
        let end = monotonicMilliseconds() + 1000
        while terminal.echoes, !terminal.isOver, monotonicMilliseconds() < end { try? terminal.gather(within: 2) }
    }
}
