/// Shapes that are typed without remembering anything: repeats, runs, and walks over a keypad.
enum PINPatterns {
    enum Shape: Equatable {
        case run
        case keypadWalk
    }

    /// The fewest characters that make a part of a shape.
    private static let partLength = 3

    /// One character alone, two in any mixture (six characters or more), a block again and again, or each one doubled.
    static func isRepeated(_ pin: Span<UInt8>) -> Bool {
        guard pin.count >= 2 else { return pin.count == 1 }
        return hasPeriod(pin) || isDoubled(pin) || (pin.count >= 6 && hasAtMostTwoCharacters(pin))
    }

    /// 111111, 121212, 1231231.
    private static func hasPeriod(_ pin: Span<UInt8>) -> Bool {
        for period in 1...(pin.count / 2) {
            var holds = true
            for index in period..<pin.count where pin[index].lowered != pin[index - period].lowered { holds = false }
            if holds { return true }
        }
        return false
    }

    /// 445599.
    private static func isDoubled(_ pin: Span<UInt8>) -> Bool {
        guard pin.count.isMultiple(of: 2) else { return false }
        for index in 0..<(pin.count / 2) where pin[2 * index].lowered != pin[2 * index + 1].lowered { return false }
        return true
    }

    /// 000001, 233332.
    private static func hasAtMostTwoCharacters(_ pin: Span<UInt8>) -> Bool {
        let one = pin[0].lowered
        var other: UInt8?
        for index in 1..<pin.count where pin[index].lowered != one {
            guard let known = other else {
                other = pin[index].lowered
                continue
            }
            if pin[index].lowered != known { return false }
        }
        return true
    }

    /// The shape of the whole PIN: made of runs and straight lines, with one character in six left over at most.
    static func shape(of pin: Span<UInt8>) -> Shape? {
        guard pin.count >= partLength else { return nil }
        if isProgression(pin) { return .run }

        var position = 0
        var leftOver = 0
        var usesKeypad = false
        while position < pin.count {
            let run = runLength(pin, from: position)
            let line = Keypad.longestLine(pin, from: position)
            let part = max(run, line)
            if part >= partLength {
                usesKeypad = usesKeypad || line > run
                position += part
            } else {
                leftOver += 1
                position += 1
            }
        }
        if leftOver <= pin.count / 6 { return usesKeypad ? .keypadWalk : .run }
        return Keypad.isWalk(pin) ? .keypadWalk : nil
    }

    /// How far apart two digits or two letters are, round the end (9 to 0, z to a); nil for any other pair.
    private static func distance(_ first: UInt8, _ second: UInt8) -> (step: Int, base: Int)? {
        if let one = first.digitValue, let other = second.digitValue { return ((other - one + 10) % 10, 10) }
        let one = Int(first.lowered) - 0x61
        let other = Int(second.lowered) - 0x61
        guard one >= 0, one < 26, other >= 0, other < 26 else { return nil }
        return ((other - one + 26) % 26, 26)
    }

    /// 135790, 147036: one step, of whatever width, from the first character to the last.
    private static func isProgression(_ pin: Span<UInt8>) -> Bool {
        guard let first = distance(pin[0], pin[1]) else { return false }
        for index in 2..<pin.count {
            guard let next = distance(pin[index - 1], pin[index]), next == first else { return false }
        }
        return true
    }

    /// The length of the run up or down, or of one character, that begins at `start`.
    private static func runLength(_ pin: Span<UInt8>, from start: Int) -> Int {
        guard start + 1 < pin.count, let first = distance(pin[start], pin[start + 1]),
            first.step <= 1 || first.step == first.base - 1
        else { return 1 }
        var end = start + 2
        while end < pin.count, let next = distance(pin[end - 1], pin[end]), next == first { end += 1 }
        return end - start
    }
}
