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
    /// Its prints were approved where it may not be used: at an outside port, or where nobody could say.
    case approvedOutside = 6

    /// Whether `signet activate` mends it: it approves the prints where the reader is now.
    package var isMendedByActivation: Bool {
        switch self {
        case .moved, .approvedOutside: true
        case .outside, .unplaced, .virtual, .chip: false
        }
    }
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

    /// Why a reader is not used, by which prompts, commands and reports all judge; nil where it may be.
    ///
    /// `place` is where it is; nil where nobody has looked yet: what is refused then is refused at each place, though
    /// `.approvedOutside` for another reason where the reader may not be used at all, and activating does not help.
    /// `approved` is the place that the user's approval covers; nil where there is none yet, or a new one is about to be made.
    /// `onChip`: the user's prints lie in its memory, or it would keep them there.
    ///
    /// An outside port is refused by the firmware's word alone, that of now and that of the approval: a port that was known
    /// to be an outside one is outside still, whatever is read there today, until the user says otherwise with PIN and
    /// touch. Where the firmware says nothing, as on most desktops, a port is taken for inside at that moment, and from
    /// then on at that very port: nobody is shut out, and what is plugged into another port later is refused. Of two words
    /// that are not "removable" neither counts more, so that an update of firmware or kernel that knows more or less shuts
    /// nobody out.
    package func distrust(_ place: ReaderPlace?, approved: ReaderPlace?, onChip: Bool) -> ReaderDistrust? {
        let isVirtual = place?.bus == .virtual || approved?.bus == .virtual
        if isVirtual, !standIn { return .virtual }
        if onChip, chips == .refuse { return .chip }
        if allowed == .any { return nil }
        if let place, place.bus != .virtual {
            if place.attachment == .removable { return .outside }
            if place.path.isEmpty { return .unplaced }
        }
        guard let approved else { return nil }
        if let place, !place.isSamePort(as: approved) { return .moved }
        if approved.bus == .virtual { return nil }
        return approved.attachment == .removable || approved.path.isEmpty ? .approvedOutside : nil
    }

    /// The same for a reader that several people approved, each where it was then: it is used where one of them may.
    package func distrust(
        _ place: ReaderPlace, approved places: [ReaderPlace], onChip: Bool
    ) -> ReaderDistrust? {
        guard let first = places.first else { return distrust(place, approved: nil, onChip: onChip) }
        for approved in places where distrust(place, approved: approved, onChip: onChip) == nil { return nil }
        return distrust(place, approved: first, onChip: onChip)
    }
}
