/// Which readers may be used.
package enum AllowedReaders: UInt8, CaseIterable, Equatable, Sendable {
    /// Those that are built in, or stand where their prints were approved.
    case inside = 1
    /// Any that libfprint drives, at any port.
    case any = 2

    /// As it is written in the configuration.
    package var word: String {
        switch self {
        case .inside: "internal"
        case .any: "any"
        }
    }
}

/// Why a reader is not used for where or what it is.
package enum ReaderDistrust: UInt8, Equatable, Sendable {
    /// It hangs at an outside port.
    case outside = 1
    /// It is at another port than the one for which its prints were approved.
    case moved = 2
    /// Nobody can say where it is.
    case unplaced = 3
    /// A virtual reader, or prints for one, without the configuration's word that there is a stand-in.
    case virtual = 4
    /// Its chip keeps the prints and compares, which the configuration refuses.
    case chip = 5
}

/// Whether a reader is believed for where and what it is (`readers` and `match_on_chip` in signet.conf).
///
/// Chips that compare by themselves answer over USB that it was the right finger, and libfprint has no authenticated
/// channel to them: a device of an attacker's that has the same ids is asked in their place and says "match" (Blackwing, "A
/// Touch of Pwn", 2023). It can be anything but be inside the case.
package struct ReaderTrust: Equatable, Sendable {
    package let allowed: AllowedReaders
    /// Whether the configuration names a helper of the administrator's own.
    package let standIn: Bool
    package let chips: MatchOnChip
    package let foreignPrints: ForeignPrintRule

    package init(
        allowed: AllowedReaders, standIn: Bool, chips: MatchOnChip = .allow, foreignPrints: ForeignPrintRule = .report
    ) {
        self.allowed = allowed
        self.standIn = standIn
        self.chips = chips
        self.foreignPrints = foreignPrints
    }

    package init(_ configuration: Configuration) {
        self.init(
            allowed: configuration.readers, standIn: configuration.sensorHelper != nil,
            chips: configuration.matchOnChip, foreignPrints: configuration.foreignPrints)
    }

    /// Why a reader at `place` is not used; nil where it may be.
    ///
    /// `onChip`: the user's prints lie in its memory, or it would keep them there.
    /// `approved` is the place that the user's approval covers; nil where there is none yet, or a new one is about to be made.
    ///
    /// An outside port is refused by the firmware's word alone. Where the firmware says nothing, as on most desktops, a port
    /// is taken for inside at the moment when the user types the PIN and touches the reader there, and from then on at that
    /// very port: nobody is shut out, and what is plugged into another port later is refused. The port is what counts and
    /// not the word, so that an update of firmware or kernel that knows more or less shuts nobody out; a port that is known to
    /// be an outside one is refused all the same.
    package func distrust(_ place: ReaderPlace, approved: ReaderPlace?, onChip: Bool) -> ReaderDistrust? {
        if place.bus == .virtual, !standIn { return .virtual }
        if onChip, chips == .refuse { return .chip }
        if place.bus == .virtual || allowed == .any { return nil }
        if place.attachment == .removable { return .outside }
        if place.path.isEmpty { return .unplaced }
        guard let approved else { return nil }
        return place.isSamePort(as: approved) ? nil : .moved
    }
}
