import Testing

@testable import SignetPolicy

private func weakness(_ pin: String, user: String = "", minimum: Int = 4, maximum: Int = 64) -> PINWeakness? {
    PINPolicy(minimum: minimum, maximum: maximum).weakness(of: Array(pin.utf8).span, userName: Array(user.utf8))
}

/// How many of these six-digit numbers may be alice's PIN.
@Sendable private func countAccepted(_ numbers: Range<Int>) -> Int {
    let policy = PINPolicy(minimum: 6, maximum: 64)
    let alice = Array("alice".utf8)
    var accepted = 0
    var pin: [UInt8] = [0, 0, 0, 0, 0, 0]
    for number in numbers {
        var rest = number
        for index in 0..<6 {
            pin[5 - index] = UInt8(0x30 + rest % 10)
            rest /= 10
        }
        if policy.weakness(of: pin.span, userName: alice) == nil { accepted += 1 }
    }
    return accepted
}

@Suite struct PINPolicyTests {
    /// Catches a length that is off by one, and bounds that a configuration does not reach.
    @Test func lengths() {
        #expect(weakness("38041", minimum: 6) == .tooShort(minimum: 6))
        #expect(weakness("830462", minimum: 6) == nil)
        #expect(weakness("", minimum: 0) == .tooShort(minimum: 1))
        #expect(weakness("8304622", minimum: 4, maximum: 6) == .tooLong(maximum: 6))
        #expect(weakness("830462", minimum: 4, maximum: 6) == nil)
        #expect(PINPolicy(Configuration()) == PINPolicy(minimum: 6, maximum: 64))
    }

    /// Catches a PIN that a keyboard of another layout, or the conversation's encoding, could not give again.
    @Test(arguments: ["3804\u{7}7", "3804é7", "3804\u{7F}1", "3804\t17", "380🙂417"]) func refusesOtherCharacters(
        pin: String
    ) {
        #expect(weakness(pin) == .notPrintableASCII)
    }

    /// Catches a repeat that slips through for its block's length, its case or an incomplete last block.
    @Test(arguments: [
        "111111", "zzzzzz", "aAaAaA", "121212", "abcabc", "38043804", "1231231", "12121", "445599", "000001", "233332",
    ]) func repeats(pin: String) { #expect(weakness(pin) == .repeated) }

    /// Catches a run that slips through for its direction, for going round the end, or for being one of several.
    @Test(arguments: [
        "123456", "654321", "890123", "321098", "xyzabc", "123321", "123abc", "ABCcba", "111222333", "123457",
        "a123456",
        "357913", "147036", "789456", "1234567890", "fedcba", "12345678a",
    ]) func runs(pin: String) { #expect(weakness(pin) == .run) }

    /// Catches a keypad whose rows, columns or diagonals are laid out wrongly.
    @Test(arguments: [
        "147258", "159753", "258410", "25800852", "qwerty", "qazwsx", "asdfgh", "zxcvbn", "1qaz2wsx", "qwertz",
        "azerty", "QweAsd", "poiuyt", "2580", "125896", "145236", "123698745", "987412", "fdsrew",
    ]) func keypadWalks(pin: String) { #expect(weakness(pin) == .keypadWalk) }

    /// Catches a date whose order of parts is forgotten, and separators that hide one.
    @Test(arguments: [
        "311299", "123199", "991231", "24121987", "12241987", "19871224", "240287", "290200", "24.12.87", "1987-12-24",
        "12/24/87", "1987", "2412", "1224", "04 07 76",
    ]) func dates(pin: String) { #expect(weakness(pin) == .date) }

    /// Catches a rule for dates that takes any number for one.
    @Test(arguments: ["830462", "993199", "31028741", "24128871", "30023517", "7743", "87.99.41"]) func noDates(
        pin: String
    ) {
        #expect(weakness(pin) == nil)
    }

    /// Catches a user name that hides by case, direction, or by being one part of the PIN.
    @Test(arguments: [
        ("alice9", "alice"), ("9ECILA", "alice"), ("77Lic4", "alice"), ("4cil77", "alice"), ("bob419", "Bob"),
        ("42user42", "user1000"),
    ]) func userNames(pin: String, user: String) { #expect(weakness(pin, user: user) == .containsUserName) }

    /// Catches a user name of one or two letters, or three letters of it within a long phrase, that forbids everything.
    @Test(arguments: [
        ("al3804", "al"), ("830462", ""), ("a7c3x9", "alice"), ("we slice bread on Sundays", "alice"),
    ]) func userNamesThatDoNotMatter(pin: String, user: String) { #expect(weakness(pin, user: user) == nil) }

    /// Catches a list that is compared by prefix, by case, or not to its end.
    @Test(arguments: ["1324", "0007", "1379", "135792468", "142536", "PASSWORD", "welcome", "1q2w3e4r", "iloveyou"])
    func common(pin: String) { #expect(weakness(pin) == .common) }

    @Test(arguments: ["passwor", "asswor", "me welco", "password password"]) func notCommon(pin: String) {
        #expect(weakness(pin) != .common)
    }

    /// Catches dead weight: an entry that another rule refuses, a doubled one, a wrong count in the comment.
    @Test func everyCommonPINIsNeeded() {
        var entries: [[UInt8]] = []
        for list in PINCommon.all {
            let bytes = (0..<list.count).compactMap { list[$0] }
            entries += bytes.split { $0 <= 0x20 }.map(Array.init)
        }
        #expect(entries.count == 98)
        #expect(Set(entries).count == entries.count)
        for entry in entries {
            #expect(PINPolicy(minimum: 4, maximum: 64).weakness(of: entry.span, userName: []) == .common)
        }
    }

    /// Catches a rule that grows until people can hardly find a PIN: nine in ten of all six-digit numbers must pass.
    @Test func mostSixDigitNumbersPass() async {
        let accepted = await withTaskGroup(of: Int.self) { group in
            for part in 0..<10 { group.addTask { countAccepted(part * 100_000..<(part + 1) * 100_000) } }
            return await group.reduce(0, +)
        }
        #expect(accepted == 901_252)
    }

    /// Catches an index that leaves the PIN or the name: a trap would end the caller.
    @Test func anyBytesAreJudgedWithoutTrap() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("0123456789abcxyzqwerty./- A".utf8)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...70, using: &generator)
            let pin = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0x30 }
            let length = Int.random(in: 0...12, using: &generator)
            let user = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let policy = PINPolicy(minimum: Int.random(in: -1...8), maximum: Int.random(in: -1...80))
            let found = policy.weakness(of: pin.span, userName: user)
            #expect(found != nil || (pin.count >= policy.minimum && pin.count <= policy.maximum))
        }
    }
}
