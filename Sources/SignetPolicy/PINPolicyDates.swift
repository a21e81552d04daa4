/// Dates, the largest group of PINs that people choose (Markert et al., IEEE S&P 2020, table of strategies).
enum PINDates {
    /// Whether the digits, with or without separators between them, can be read as a date.
    ///
    /// Six digits: DDMMYY, MMDDYY, YYMMDD, any two-digit year being somebody's. Eight: DDMMYYYY, MMDDYYYY, YYYYMMDD,
    /// from 1900 to 2099. Four: DDMM, MMDD, and the years 1900 to 2039.
    static func isDate(_ pin: Span<UInt8>) -> Bool {
        var value = 0
        var digits = 0
        for index in 0..<pin.count {
            if let digit = pin[index].digitValue {
                digits += 1
                guard digits <= 8 else { return false }
                value = value * 10 + digit
            } else if !isSeparator(pin[index]) {
                return false
            }
        }
        switch digits {
        case 4: return isDayAndMonth(value) || (1900...2039).contains(value)
        case 6: return isDayAndMonth(value / 100) || isMonthAndDay(value % 10_000)
        case 8:
            return isDayAndMonth(value / 10_000) && isYear(value % 10_000)
                || isMonthAndDay(value % 10_000) && isYear(value / 10_000)
        default: return false
        }
    }

    /// Space, hyphen, full stop, slash.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x2D || byte == 0x2E || byte == 0x2F
    }

    private static func isYear(_ value: Int) -> Bool { (1900...2099).contains(value) }

    /// DDMM or MMDD.
    private static func isDayAndMonth(_ value: Int) -> Bool {
        isMonthAndDay(value) || isMonthAndDay(value % 100 * 100 + value / 100)
    }

    /// MMDD; 29 February counts in every year.
    private static func isMonthAndDay(_ value: Int) -> Bool {
        let day = value % 100
        switch value / 100 {
        case 1, 3, 5, 7, 8, 10, 12: return day >= 1 && day <= 31
        case 4, 6, 9, 11: return day >= 1 && day <= 30
        case 2: return day >= 1 && day <= 29
        default: return false
        }
    }
}
