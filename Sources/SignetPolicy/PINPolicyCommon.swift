/// The most common PINs that no other rule refuses: 98 of them, separated by white space, letters in lower case.
///
/// Taken from two public counts in SecLists (github.com/danielmiessler/SecLists, Passwords/Common-Credentials):
/// - `four-digit-pin-codes-sorted-by-frequency-withcount.csv`, its first 192 lines: 12 remain here;
/// - `100k-most-used-passwords-NCSC.txt` (the UK's National Cyber Security Centre, 2019), of its first 16,000 bytes the
///   176 entries of six digits or more (18 remain), and of its first 150 lines those of six characters or more with a
///   letter (68 remain).
/// What the rules for repeats, runs, keypads and dates refuse is left out, which a test watches.
enum PINCommon {
    private static let fourDigits = LiteralBytes("0007 0070 1324 5150 1235 1245 1318 4200 7942 5425 1092 1379")

    private static let digits = LiteralBytes(
        """
        5201314 12345678910 142536 4815162342 124578 135790 246810 134679 1314520 1029384756 7758521 9379992 8675309
        1123581321 9111961 31415926 192837465 135792468
        """)

    private static let words = LiteralBytes(
        """
        password password1 iloveyou 1q2w3e4r5t monkey dragon myspace1 homelesspa 1q2w3e4r target123 tinkle 1g2w3e4r
        zag12wsx fuckyou 1q2w3e computer princess ashley michael football sunshine iloveyou1 fuckyou1 daniel princess1
        passer2009 shadow football1 love123 superman jordan23 jessica monkey1 12qwaszx baseball killer samsung master
        charlie soccer fqrg7cs493 jordan michael1 jesus1 linkedin babygirl1 blink182 thomas liverpool michelle nicole
        j38ifubn lovely q1w2e3r4 gfhjkm andrew hello1 joshua status justin anthony angel1 iloveyou2 jennifer hunter
        naruto bitch1 welcome
        """)

    /// The lists, for the test that no entry is dead weight.
    static let all = [fourDigits, digits, words]

    /// Whether `pin`, in any case, is one of them.
    static func contains(_ pin: Span<UInt8>) -> Bool {
        for index in 0..<pin.count where pin[index].digitValue == nil { return contains(pin, in: words) }
        return contains(pin, in: pin.count == 4 ? fourDigits : digits)
    }

    private static func contains(_ pin: Span<UInt8>, in list: LiteralBytes) -> Bool {
        var matched = 0
        var stillEqual = true
        for index in 0...list.count {
            guard let byte = list[index], byte > 0x20 else {
                if stillEqual && matched == pin.count && matched > 0 { return true }
                matched = 0
                stillEqual = true
                continue
            }
            if matched < pin.count && pin[matched].lowered == byte { matched += 1 } else { stillEqual = false }
        }
        return false
    }
}
