internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

// What is said of readers, and the stable names that JSON has for the same.

extension ReaderPlace {
    /// Where it is, in two or three words.
    var words: String {
        let port = Output.text(Array(port))
        switch (bus, attachment) {
        case (.virtual, _): return "virtual"
        case (.other, _): return "unknown"
        case (_, .removable): return port.isEmpty ? "outside" : "outside, port \(port)"
        case (_, .fixed): return "built in"
        case (_, .unknown): return port.isEmpty ? "unknown" : "port \(port)"
        }
    }
}

extension ReaderBus {
    var code: String {
        switch self {
        case .virtual: "virtual"
        case .usb: "usb"
        case .spi: "spi"
        case .other: "unknown"
        }
    }
}

extension PortAttachment {
    var code: String {
        switch self {
        case .fixed: "fixed"
        case .removable: "removable"
        case .unknown: "unknown"
        }
    }
}

extension ReaderProblem {
    var code: String {
        switch self {
        case .noReader: "no_reader"
        case .busy: "reader_busy"
        case .removed: "reader_removed"
        case .tooHot: "reader_too_hot"
        case .notPermitted: "reader_not_permitted"
        case .timedOut: "reader_timed_out"
        case .faulty: "reader_faulty"
        case .helperFailed: "helper_failed"
        case .storageFull: "storage_full"
        case .duplicate: "duplicate"
        case .unsupported: "unsupported"
        case .printNotFound: "print_not_found"
        case .virtualRefused: "virtual_refused"
        case .slept: "reader_slept"
        case .stalled: "reader_stalled"
        case .cancelIgnored: "reader_ignores_cancel"
        case .ghost: "reader_ghost"
        }
    }

    /// What is the matter, after a colon or in a row.
    var words: String { fact.prefix(1).lowercased() + fact.dropFirst() }

    /// What an administrator can do about it.
    var remedy: String {
        switch self {
        case .noReader, .removed: "plug it in, or see \"signet readers --supported\""
        case .busy: "end the other program, perhaps fprintd: systemctl stop fprintd"
        case .tooHot: "let it cool down for a minute"
        case .helperFailed: "install Signet anew, and look into the system's log"
        case .virtualRefused: "connect a real reader"
        default: "unplug it and plug it in again, or restart the machine"
        }
    }
}

extension ReaderDescription {
    /// Who compares, and whether prints in the reader's memory can be told.
    var matching: String {
        if !storesPrints { return "host" }
        return listsPrints ? "chip, lists" : "chip, cannot list"
    }

    /// "cannot list its prints", where its memory has some that nobody can look at; else nothing.
    var listingWords: String? { storesPrints && !listsPrints ? "cannot list its prints" : nil }

    /// "Elan MOC Sensors, built in"; of a reader without a real port the name alone.
    var nameAndPlace: String {
        let name = Output.text(name)
        return [.usb, .spi].contains(place.bus) ? "\(name), \(place.words)" : name
    }

    /// "Elan MOC Sensors (elanmoc)".
    var label: String { "\(Output.text(name)) (\(Output.text(identity.driver)))" }
}

extension ReaderExchange {
    static let code = "reader_exchanged"

    /// What is the matter, for whoever may know both readers.
    var words: String {
        "the fingers are enrolled with another reader (\(isSameKind ? "a second " : "")\(Output.text(enrolled))) than the one "
            + "that is there (\(Output.text(present)))"
    }

    /// What makes fingers count again; `option` says for whom.
    func remedy(_ option: String) -> String {
        isKeptElsewhere
            ? "plug that one in, or enrol on this one in the desktop's settings, and then: sudo signet activate\(option)"
            : "plug that one in, or enrol on this one: sudo signet enroll\(option)"
    }
}

extension ReaderPrints {
    /// "2 yours, 1 another user's, 3 foreign"; "none" where there is nothing.
    ///
    /// Foreign is what no user of Signet has, as everywhere.
    var words: String {
        var parts: [String] = []
        if let yours, yours > 0 { parts.append("\(yours) yours") }
        if others > 0 {
            let whose = yours == nil ? "of Signet's users" : others == 1 ? "another user's" : "other users'"
            parts.append("\(others) \(whose)")
        }
        if let missing, missing > 0 { parts.append("\(missing) gone") }
        if let leftOver, leftOver > 0 { parts.append("\(leftOver) left over") }
        if let foreign, foreign > 0 { parts.append("\(hasMore ? "at least " : "")\(foreign) foreign") }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}

extension ReaderConcern {
    var code: String {
        switch self {
        case .lowThreshold: "low_threshold"
        case .noErrorRates: "no_error_rates"
        case .unauthenticatedChip: "unauthenticated_chip"
        case .unknownDriver: "unknown_driver"
        case .virtual: "virtual"
        }
    }

    /// What it is, after the reader's name and a colon.
    var words: String {
        switch self {
        case .lowThreshold(let score):
            "its driver takes a score of \(score) for a match, where 40 is usual, and publishes no error rates"
        case .noErrorRates: "no error rates are published for it"
        case .unauthenticatedChip:
            "the chip itself says whether the finger was right, and need not prove that it is the chip; "
                + "no error rates are published"
        case .unknownDriver: "nothing is known of how well its driver tells fingers apart"
        case .virtual: "it is virtual, and says \"match\" to whoever holds its socket"
        }
    }

    /// What to do about it.
    var remedy: String {
        switch self {
        case .lowThreshold, .unknownDriver:
            "where that is too little, write \"finger_limit = 1\" or \"finger = no\" into the configuration"
        case .unauthenticatedChip: "keep \"readers = internal\", and the case closed"
        case .noErrorRates: "see \"signet readers\""
        case .virtual: "use it for tests only"
        }
    }
}

extension ReaderDistrust {
    /// What a person, or else an administrator, may do about it.
    var remedy: String {
        let path = Output.text(ConfigurationLoader.standardPath)
        switch self {
        case .outside:
            return "use a reader that is built in, or let an administrator write \"readers = any\" into \(path), see "
                + "signet.conf(5)"
        case .unplaced:
            return "use another reader, or let an administrator write \"readers = any\" into \(path), see "
                + "signet.conf(5)"
        case .moved, .approvedOutside: return "sudo signet activate"
        case .chip:
            return "use another reader, or let an administrator write \"match_on_chip = allow\" into \(path), see "
                + "signet.conf(5)"
        case .virtual: return "connect a real reader"
        }
    }
}
