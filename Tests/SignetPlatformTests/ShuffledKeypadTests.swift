import Foundation
import SignetPlatform
import SignetSecrets
import Testing

@Suite struct ShuffledKeypadTests {
    /// Catches a shuffle that favours an order (the classic one swaps with any place and does), or that leaves one out.
    ///
    /// Each order of four comes from exactly as many of all possible choices. 12 is a multiple of 4, 3 and 2.
    @Test func eachOrderOfFourIsEquallyLikely() throws {
        var times: [[UInt8]: Int] = [:]
        for choices in 0..<(12 * 12 * 12) {
            let random = [UInt8(choices % 12), UInt8(choices / 12 % 12), UInt8(choices / 144)]
            times[try order(of: 4, random: random), default: 0] += 1
        }
        #expect(times.count == 24)
        #expect(Set(times.values) == [72])
    }

    /// Catches a choice that takes the remainder of any byte, or rejects too many: of all bytes that are taken for the
    /// first choice, each number gets as many.
    @Test(arguments: [2, 3, 5, 6, 7, 9, 10, 255, 256]) func eachFirstChoiceIsEquallyLikely(count: Int) throws {
        var times: [UInt8: Int] = [:]
        var rejected = 0
        for byte in UInt8.min...UInt8.max {
            // The rest are zeros, which nothing rejects; where the first byte was rejected there is one too few.
            let random = [byte] + [UInt8](repeating: 0, count: count - 2)
            guard let order = try? order(of: count, random: random) else {
                rejected += 1
                continue
            }
            // What the first choice was stands last, for it was exchanged with the last.
            times[try #require(order.last), default: 0] += 1
        }
        #expect(rejected == 256 % count)
        #expect(times.count == count)
        #expect(Set(times.values) == [256 / count])
    }

    /// Catches an order of ten that is not uniform.
    ///
    /// Chi-square over how often each digit lies in each place, from a fixed sequence of random bytes, so that the result
    /// is the same each time. As each digit lies somewhere once, the sum is weighed by 9/10 and has 81 degrees of freedom
    /// (Anderson, Biometrics 15, 1959); the bounds are their quantiles 0.001, below which the orders would be dealt in turn,
    /// and 0.999.
    @Test func tenDigitsLieEverywhereAsOften() throws {
        var generator = SplitMix64(state: 20_261_130)
        var times = [Int](repeating: 0, count: 100)
        let rounds = 5000
        for _ in 0..<rounds {
            let random = (0..<RandomOrder.randomCount).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 32) }
            let order = try order(of: 10, random: random)
            for (place, digit) in order.enumerated() { times[place * 10 + Int(digit)] += 1 }
        }
        let expected = Double(rounds) / 10
        let chiSquare = 0.9 * times.reduce(0) { $0 + pow(Double($1) - expected, 2) / expected }
        #expect(chiSquare > 47.3 && chiSquare < 126.1)
    }

    /// Catches an order that repeats or loses a digit, and a generator that is not asked anew: of 50 real orders
    /// two are equal once in 3,000 runs; four would hardly ever be.
    @Test func realOrdersAreCompleteAndNew() throws {
        var orders: Set<[UInt8]> = []
        for _ in 0..<50 {
            let keypad = try made(ShuffledKeypad())
            let digits = (0..<12).compactMap { keypad.digit(in: $0) }
            #expect(digits.sorted() == Array("0123456789".utf8))
            orders.insert(digits)
        }
        #expect(orders.count >= 48)
    }

    /// Catches a keypad made of too little randomness, or out of a broken source that only says 255.
    @Test func tooLittleRandomnessMakesNoKeypad() throws {
        for random in [[], [UInt8](repeating: 0, count: 8), [UInt8](repeating: 255, count: 64)] {
            let secret = try made(SecretBytes(copying: random.span))
            let isMade = ShuffledKeypad(random: secret) != nil
            #expect(!isMade)
        }
        let exact = try made(SecretBytes(copying: [UInt8](repeating: 0, count: 9).span))
        let isMade = ShuffledKeypad(random: exact) != nil
        #expect(isMade)
    }

    /// Catches a letter that picks another cell than it is drawn in, a capital that means something else, and a key beside
    /// the ten letters that picks: a typed digit above all, which would give the PIN to the one who logs the keys.
    @Test func onlyTheLettersPick() throws {
        let letters = Array("qweasdzxc v".utf8)
        let keypad = try made(ShuffledKeypad())
        for character in UInt8.min...UInt8.max where character != 0x20 {
            let (effect, left) = type(character, on: keypad)
            let small = (0x41...0x5A).contains(character) ? character + 0x20 : character
            if let cell = letters.firstIndex(of: small) {
                #expect(effect == .picked)
                #expect(ShuffledKeypad.letter(of: cell) == small)
                #expect(left == keypad.digit(in: cell))
            } else {
                #expect(effect == .refused)
                #expect(left == 0)
            }
        }
    }

    /// Catches a mark that leaves the keypad, wraps around or jumps: from each cell each arrow is tried.
    @Test func arrowsStayOnTheKeypad() throws {
        let arrows: [(KeypadArrow, down: Int, right: Int)] = [
            (.up, -1, 0), (.down, 1, 0), (.left, 0, -1), (.right, 0, 1),
        ]
        for cell in 0..<12 {
            for (arrow, down, right) in arrows {
                var keypad = try keypad(marking: cell)
                let (row, column) = (cell / 3 + down, cell % 3 + right)
                let expected = (0..<4).contains(row) && (0..<3).contains(column) ? row * 3 + column : cell
                keypad.moveMark(arrow)
                #expect(keypad.marked == expected)
            }
        }
    }

    /// Catches a Space that picks something else than what is marked, and a keypad that cannot be used by arrows alone.
    @Test func spacePicksWhatIsMarked() throws {
        for cell in 0..<12 {
            let keypad = try keypad(marking: cell)
            let (effect, left) = type(0x20, on: keypad)
            let expected: KeypadEffect = cell == 9 ? .erase : cell == 11 ? .done : .picked
            #expect(effect == expected)
            #expect(left == keypad.digit(in: cell) ?? 0)
        }
    }

    /// Catches an index that traps: cells come from keys only, and yet a wrong one must not end the caller.
    @Test func cellsWithoutADigitHaveNone() throws {
        let keypad = try made(ShuffledKeypad())
        for cell in [-1, 9, 11, 12, Int.max, Int.min] {
            #expect(keypad.digit(in: cell) == nil)
            #expect(ShuffledKeypad.letter(of: cell) == nil)
        }
    }

    private func order(of count: Int, random: [UInt8]) throws -> [UInt8] {
        let secret = try made(SecretBytes(copying: random.span))
        let order = try made(RandomOrder(count: count, random: secret))
        return (0..<count).compactMap { order.number(at: $0) }
    }

    private func type(_ character: UInt8, on keypad: borrowing ShuffledKeypad) -> (KeypadEffect, left: UInt8) {
        var place = [character]
        var span = place.mutableSpan
        let effect = keypad.takeCharacter(in: &span)
        return (effect, place[0])
    }

    /// A keypad whose mark was brought to a cell by the shortest way.
    private func keypad(marking cell: Int) throws -> ShuffledKeypad {
        var keypad = try made(ShuffledKeypad())
        let (down, right) = (cell / 3 - 1, cell % 3 - 1)
        for _ in 0..<abs(down) { keypad.moveMark(down < 0 ? .up : .down) }
        for _ in 0..<abs(right) { keypad.moveMark(right < 0 ? .left : .right) }
        #expect(keypad.marked == cell)
        return keypad
    }
}

/// Random numbers from a seed (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
private struct SplitMix64 {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

private struct NotMade: Error {}

private func made(_ secret: consuming SecretBytes?) throws -> SecretBytes {
    guard let secret else { throw NotMade() }
    return secret
}

private func made(_ order: consuming RandomOrder?) throws -> RandomOrder {
    guard let order else { throw NotMade() }
    return order
}

private func made(_ keypad: consuming ShuffledKeypad?) throws -> ShuffledKeypad {
    guard let keypad else { throw NotMade() }
    return keypad
}
