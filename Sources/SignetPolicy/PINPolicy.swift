/// Which PINs may be set.
///
/// Guessing is limited to ten tries in all, so what matters is that none of the first guesses is right: what a stranger
/// tries first is refused, and nothing more. Markert et al., "This PIN Can Be Easily Guessed" (IEEE S&P 2020), find the
/// block lists in use too short, and one of about a tenth of all PINs to be the best balance. Of all six-digit numbers
/// 90 in 100 remain here; most of the others are dates.
package struct PINPolicy: Equatable, Sendable {
    /// The fewest characters, at least 1.
    package let minimum: Int
    /// The most characters.
    package let maximum: Int

    package init(minimum: Int, maximum: Int) {
        self.minimum = max(1, minimum)
        self.maximum = maximum
    }

    /// The policy that an administrator configured.
    package init(_ configuration: Configuration) {
        self.init(minimum: Int(configuration.pinMinimumLength), maximum: Int(configuration.pinMaximumLength))
    }

    /// Why `pin` is refused as a new PIN of `userName`, or nil where it may be set.
    ///
    /// The bytes are read in place and never copied. The time depends on them, which nobody can use: a PIN is
    /// judged only when its owner sets it.
    package func weakness(of pin: Span<UInt8>, userName: [UInt8]) -> PINWeakness? {
        if pin.count > maximum { return .tooLong(maximum: maximum) }
        for index in 0..<pin.count where pin[index] < 0x20 || pin[index] > 0x7E { return .notPrintableASCII }
        if pin.count < minimum { return .tooShort(minimum: minimum) }

        if PINPatterns.isRepeated(pin) { return .repeated }
        switch PINPatterns.shape(of: pin) {
        case .run: return .run
        case .keypadWalk: return .keypadWalk
        case .none: break
        }
        if PINDates.isDate(pin) { return .date }
        if PINPolicy.shares(pin, with: userName) { return .containsUserName }
        if PINCommon.contains(pin) { return .common }
        return nil
    }

    /// Whether `pin` holds a part of `userName`, forwards or backwards, in any case.
    ///
    /// A part is three characters, or a quarter of a PIN longer than that: three letters that happen to stand in a long
    /// phrase make it no easier to guess.
    private static func shares(_ pin: Span<UInt8>, with userName: [UInt8]) -> Bool {
        let needed = max(3, pin.count / 4)
        guard needed <= pin.count, needed <= userName.count else { return false }
        for start in 0...(pin.count - needed) {
            for first in 0...(userName.count - needed) {
                var forwards = true
                var backwards = true
                for offset in 0..<needed {
                    let character = pin[start + offset].lowered
                    if character != userName[first + offset].lowered { forwards = false }
                    if character != userName[first + needed - 1 - offset].lowered { backwards = false }
                }
                if forwards || backwards { return true }
            }
        }
        return false
    }
}
