package import SignetSecrets

/// The numbers `0..<count` in an order that nobody can foresee, in guarded memory.
package struct RandomOrder: ~Copyable {
    private var numbers: SecretBytes

    /// How many random bytes an order of ten digits is made of.
    ///
    /// Nine are needed; each of the others makes up for one that was rejected. A byte is rejected with a probability of
    /// at most 6 in 256, so that 56 of 64 are never rejected in the life of a machine.
    package static let randomCount = 64

    /// Shuffles with bytes from libsodium's generator; nil where memory is short.
    package init?(count: Int) {
        guard let random = SecretBytes(randomCount: RandomOrder.randomCount) else { return nil }
        self.init(count: count, random: random)
    }

    /// Shuffles `0..<count`, at most 256, with `random`; nil where those bytes are too few, or memory is short.
    ///
    /// Fisher and Yates' shuffle (Knuth, The Art of Computer Programming, volume 2, algorithm 3.4.2 P): each order is
    /// equally likely when each choice in it is.
    package init?(count: Int, random: borrowing SecretBytes) {
        guard count >= 1, count <= 256, var numbers = SecretBytes(count: count) else { return nil }
        let isShuffled = random.withBytes { bytes in
            numbers.withMutableBytes { numbers in RandomOrder.shuffle(&numbers, random: bytes) }
        }
        guard isShuffled else { return nil }
        self.numbers = numbers
    }

    /// The number at `place`; nil outside of `0..<count`.
    package borrowing func number(at place: Int) -> UInt8? {
        guard place >= 0, place < numbers.count else { return nil }
        return numbers.withBytes { $0[place] }
    }

    private static func shuffle(_ numbers: inout MutableSpan<UInt8>, random: Span<UInt8>) -> Bool {
        for place in 0..<numbers.count { numbers[place] = UInt8(truncatingIfNeeded: place) }
        var used = 0
        var left = numbers.count
        while left > 1 {
            guard let chosen = choice(below: left, random: random, used: &used) else { return false }
            left -= 1
            let number = numbers[chosen]
            numbers[chosen] = numbers[left]
            numbers[left] = number
        }
        return true
    }

    /// A number below `bound` (1 to 256), each equally likely; nil when no byte is left.
    ///
    /// A remainder alone would favour small numbers (256 is no multiple of 10), so the incomplete last round of bytes is
    /// rejected.
    private static func choice(below bound: Int, random: Span<UInt8>, used: inout Int) -> Int? {
        let usable = 256 - 256 % bound
        while used < random.count {
            let byte = Int(random[used])
            used += 1
            if byte < usable { return byte % bound }
        }
        return nil
    }
}
