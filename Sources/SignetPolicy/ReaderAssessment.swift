/// What there is to say against a reader, whoever uses it.
package enum ReaderConcern: Equatable, Sendable {
    /// Its driver accepts matches below the score of 40 above which NIST's manual calls two prints one finger's.
    case lowThreshold(score: UInt8)
    /// The host compares at that score, but nobody has measured how often another finger reaches it on this reader.
    case noErrorRates
    /// The chip itself says whether it was the right finger, to whoever listens, and no driver makes it prove who it is.
    case unauthenticatedChip
    /// The driver came after this table.
    case unknownDriver
    /// It says "match" to whoever holds its socket.
    case virtual

    /// Whether somebody should think about it; else it is good to know.
    package var isWarning: Bool {
        switch self {
        case .noErrorRates: false
        case .lowThreshold, .unauthenticatedChip, .unknownDriver, .virtual: true
        }
    }
}

/// How far a driver's word goes, from what is published of it.
///
/// Sources. Thresholds: `bz3_threshold` of each driver in libfprint 1.94.10 (libfprint/drivers/*.c; for aes3500 and aes4000
/// aes3k.c; for upeksonly the lowest of its models), and BOZORTH3_DEFAULT_THRESHOLD in fp-image-device.c. The meaning of 40: NIST
/// Special Publication 500-245, User's Guide to NBIS, on bozorth3; it is no error rate, and was found with whole
/// fingerprints, where most of these sensors see a part. Chips: libfprint has no SDCP or other authenticated channel, and
/// Blackwing's "A Touch of Pwn" (2023) got past those of Goodix, Synaptics and ELAN. NIST SP 800-63B-4 §3.2.3 asks for a
/// false match rate of 1 in 10 000 or better; no driver here states one.
package enum ReaderAssessment {
    /// What a driver does.
    private enum Matching {
        /// The host compares, and accepts from this score on.
        case host(score: UInt8)
        /// The reader compares.
        case chip
    }

    /// NIST's score, and libfprint's where a driver sets none.
    private static let usualScore: UInt8 = 40

    private static let drivers: [(name: StaticString, matching: Matching)] = [
        ("aes3500", .host(score: 9)), ("aes4000", .host(score: 9)),
        ("aes1610", .host(score: 20)), ("aes1660", .host(score: 20)), ("aes2660", .host(score: 20)),
        ("upektc_img", .host(score: 20)), ("vfs5011", .host(score: 20)), ("vfs7552", .host(score: 20)),
        ("elan", .host(score: 24)), ("elanspi", .host(score: 24)), ("nb1010", .host(score: 24)),
        ("vfs0050", .host(score: 24)), ("vfs101", .host(score: 24)), ("vfs301", .host(score: 24)),
        ("egis0570", .host(score: 25)), ("upeksonly", .host(score: 25)), ("upektc", .host(score: 30)),
        ("aes2501", .host(score: 40)), ("aes2550", .host(score: 40)), ("etes603", .host(score: 40)),
        ("uru4000", .host(score: 40)), ("vcom5s", .host(score: 40)),
        ("egismoc", .chip), ("elanmoc", .chip), ("focaltech_moc", .chip), ("fpcmoc", .chip), ("goodixmoc", .chip),
        ("realtek", .chip), ("synaptics", .chip), ("upekts", .chip),
    ]

    /// What there is to say against `reader`.
    package static func concern(about reader: ReaderDescription) -> ReaderConcern {
        if reader.identity.isVirtual { return .virtual }
        for driver in drivers where isNamed(reader.identity.driver, driver.name) {
            switch driver.matching {
            case .chip: return .unauthenticatedChip
            case .host(let score): return score < usualScore ? .lowThreshold(score: score) : .noErrorRates
            }
        }
        // A driver that is not in the table: what keeps prints compares them too.
        return reader.storesPrints ? .unauthenticatedChip : .unknownDriver
    }

    private static func isNamed(_ driver: [UInt8], _ name: StaticString) -> Bool {
        name.withUTF8Buffer { bytes in
            // SAFETY: a static string's bytes live as long as the program.
            unsafe driver.elementsEqual(bytes)
        }
    }
}
