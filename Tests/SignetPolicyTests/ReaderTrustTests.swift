import SignetPolicy
import Testing

private func usb(_ attachment: PortAttachment, _ path: String) -> ReaderPlace {
    ReaderPlace(bus: .usb, attachment: attachment, path: Array(path.utf8))
}

@Suite struct ReaderPlaceTests {
    /// Catches a stick with a hub in it, whose own descriptor calls the false reader built in; and a dock's controller.
    @Test(
        arguments: [
            ([.fixed], [], .fixed), ([.fixed, .fixed], [.unknown, .unknown], .fixed),
            ([.removable, .fixed], [], .removable), ([.fixed, .removable], [], .removable),
            ([.unknown, .fixed], [], .unknown), ([.fixed, .unknown], [], .unknown), ([.unknown], [], .unknown),
            ([.fixed], [.removable], .removable), ([.unknown], [.removable], .removable), ([], [], .unknown),
            ([], [.removable], .removable), ([.fixed], [.fixed], .fixed),
        ] as [([PortAttachment], [PortAttachment], PortAttachment)])
    func everyLinkCounts(devices: [PortAttachment], others: [PortAttachment], result: PortAttachment) {
        #expect(PortAttachment.ofChain(devices: devices, others: others) == result)
    }

    /// Catches a word that is read as "built in" by its beginning, or a missing attribute that is.
    @Test(arguments: [
        ("fixed", PortAttachment.fixed), ("removable", .removable), ("unknown", .unknown), ("", .unknown),
        ("fixed2", .unknown), ("Fixed", .unknown), ("fix", .unknown),
    ]) func words(word: String, attachment: PortAttachment) {
        #expect(PortAttachment(attribute: Array(word.utf8)) == attachment)
    }

    /// Catches a path that is cut, after which two ports would be one.
    @Test func aPathThatIsTooLongIsNone() {
        let long = ReaderPlace(bus: .usb, attachment: .fixed, path: [UInt8](repeating: 97, count: 256))
        #expect(long.path.isEmpty)
        #expect(ReaderPlace(bus: .usb, attachment: .fixed, path: [UInt8](repeating: 97, count: 255)).path.count == 255)
    }

    /// Catches a port's name that holds the bus, or that a chip without one gets.
    @Test func port() {
        #expect(Array(usb(.fixed, "pci0000:00/0000:00:14.0/usb2/1.4").port) == Array("1.4".utf8))
        #expect(ReaderPlace(bus: .spi, attachment: .fixed, path: Array("a/b".utf8)).port.isEmpty)
        #expect(ReaderPlace.virtual.port.isEmpty)
    }
}

@Suite struct ReaderTrustTests {
    struct Case: Sendable {
        let place: ReaderPlace
        var approved: ReaderPlace?
        let inside: ReaderDistrust?
        var any: ReaderDistrust?
        var standIn = false
    }

    static let builtIn = usb(.fixed, "pci/usb2/9")
    static let desktop = usb(.unknown, "pci/usb2/3")
    static let outside = usb(.removable, "pci/usb2/1")

    /// Catches a device at an outside port, or at another port than approved, that is believed; a person with a desktop
    /// who cannot enrol; and an update that says something else of the same port and shuts people out.
    @Test(arguments: [
        Case(place: builtIn, inside: nil), Case(place: builtIn, approved: builtIn, inside: nil),
        Case(place: desktop, inside: nil), Case(place: desktop, approved: desktop, inside: nil),
        Case(place: outside, inside: .outside), Case(place: outside, approved: outside, inside: .outside),
        Case(place: outside, approved: builtIn, inside: .outside),
        Case(place: desktop, approved: builtIn, inside: .moved),
        Case(place: builtIn, approved: desktop, inside: .moved),
        Case(place: usb(.unknown, "pci/usb2/4"), approved: desktop, inside: .moved),
        Case(place: usb(.fixed, "pci/usb2/3"), approved: desktop, inside: nil),
        Case(place: usb(.unknown, "pci/usb2/9"), approved: builtIn, inside: nil),
        Case(place: usb(.removable, "pci/usb2/9"), approved: builtIn, inside: .outside),
        Case(place: usb(.fixed, "pci/usb3/9"), approved: builtIn, inside: .moved),
        Case(
            place: ReaderPlace(bus: .spi, attachment: .fixed, path: Array("pci/usb2/9".utf8)), approved: builtIn,
            inside: .moved),
        Case(place: .nowhere, inside: .unplaced), Case(place: .nowhere, approved: .nowhere, inside: .unplaced),
        Case(place: .nowhere, approved: builtIn, inside: .unplaced), Case(place: usb(.fixed, ""), inside: .unplaced),
        Case(place: .virtual, inside: .virtual, any: .virtual),
        Case(place: .virtual, approved: .virtual, inside: .virtual, any: .virtual),
        Case(place: .virtual, inside: nil, standIn: true),
        Case(place: outside, inside: .outside, standIn: true),
        Case(place: .virtual, approved: .virtual, inside: nil, standIn: true),
        Case(place: .virtual, approved: builtIn, inside: .moved, standIn: true),
        Case(place: builtIn, approved: .virtual, inside: .virtual, any: .virtual),
    ]) func table(row: Case) {
        let inside = ReaderTrust(allowed: .inside, standIn: row.standIn)
        #expect(inside.distrust(row.place, approved: row.approved, onChip: true) == row.inside)
        let any = ReaderTrust(allowed: .any, standIn: row.standIn)
        #expect(any.distrust(row.place, approved: row.approved, onChip: false) == row.any)
    }

    /// What one pair of words comes to at one port: the firmware's when the prints were approved, and its word now.
    struct Pair: Sendable {
        let approved: PortAttachment?
        let now: PortAttachment?
        let inside: ReaderDistrust?
    }

    /// Every pair there is; nil: not approved yet, or not looked at yet.
    static let pairs: [Pair] = [
        Pair(approved: nil, now: nil, inside: nil), Pair(approved: nil, now: .fixed, inside: nil),
        Pair(approved: nil, now: .unknown, inside: nil), Pair(approved: nil, now: .removable, inside: .outside),
        Pair(approved: .fixed, now: nil, inside: nil), Pair(approved: .fixed, now: .fixed, inside: nil),
        Pair(approved: .fixed, now: .unknown, inside: nil), Pair(approved: .fixed, now: .removable, inside: .outside),
        Pair(approved: .unknown, now: nil, inside: nil), Pair(approved: .unknown, now: .fixed, inside: nil),
        Pair(approved: .unknown, now: .unknown, inside: nil),
        Pair(approved: .unknown, now: .removable, inside: .outside),
        Pair(approved: .removable, now: nil, inside: .approvedOutside),
        Pair(approved: .removable, now: .fixed, inside: .approvedOutside),
        Pair(approved: .removable, now: .unknown, inside: .approvedOutside),
        Pair(approved: .removable, now: .removable, inside: .outside),
    ]

    /// Catches two places that judge one port by two words of its firmware, the approval's and today's: a prompt that
    /// refuses the finger which `status` calls on, or the other way round.
    @Test(arguments: pairs) func onePortWithTwoWords(pair: Pair) {
        let now = pair.now.map { usb($0, "pci/usb2/3") }
        let approved = pair.approved.map { usb($0, "pci/usb2/3") }
        for onChip in [false, true] {
            for chips in MatchOnChip.allCases {
                let refused = onChip && chips == .refuse
                let inside = ReaderTrust(allowed: .inside, standIn: false, chips: chips)
                #expect(inside.distrust(now, approved: approved, onChip: onChip) == (refused ? .chip : pair.inside))
                let any = ReaderTrust(allowed: .any, standIn: false, chips: chips)
                #expect(any.distrust(now, approved: approved, onChip: onChip) == (refused ? .chip : nil))
            }
        }
    }

    /// Catches a prompt that says no before anybody looked for the reader, and would say yes once it has looked; and a
    /// closure whose command does not mend it.
    @Test func whatIsRefusedUnseenIsRefusedSeen() {
        var places: [ReaderPlace] = [.nowhere, .virtual, usb(.fixed, ""), usb(.removable, "")]
        for attachment in [PortAttachment.fixed, .removable, .unknown] {
            for port in ["pci/usb2/3", "pci/usb2/4"] { places.append(usb(attachment, port)) }
            places.append(ReaderPlace(bus: .spi, attachment: attachment, path: Array("pci/usb2/3".utf8)))
        }
        for allowed in AllowedReaders.allCases {
            for chips in MatchOnChip.allCases {
                for standIn in [false, true] {
                    let trust = ReaderTrust(allowed: allowed, standIn: standIn, chips: chips)
                    for approved in places {
                        for place in places {
                            for onChip in [false, true] {
                                let unseen = trust.distrust(nil, approved: approved, onChip: onChip)
                                let seen = trust.distrust(place, approved: approved, onChip: onChip)
                                #expect(unseen == nil || seen != nil, "\(approved) \(place) \(trust)")
                                guard let seen, seen.isMendedByActivation else { continue }
                                // `activate` makes a new approval at this place; then it counts.
                                #expect(trust.distrust(place, approved: nil, onChip: onChip) == nil)
                                #expect(trust.distrust(place, approved: place, onChip: onChip) == nil)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Catches a table of readers that judges by one person's approval what another one uses every day.
    @Test func ofSeveralApprovalsOneIsEnough() {
        let trust = ReaderTrust(allowed: .inside, standIn: false)
        #expect(trust.distrust(Self.desktop, approved: [Self.builtIn, Self.desktop], onChip: false) == nil)
        #expect(trust.distrust(Self.desktop, approved: [Self.builtIn], onChip: false) == .moved)
        #expect(trust.distrust(Self.desktop, approved: [], onChip: false) == nil)
        #expect(trust.distrust(Self.outside, approved: [Self.builtIn, Self.outside], onChip: false) == .outside)
    }

    /// Catches chips that count although they are refused, and readers that compare on the host and are refused with them.
    @Test(arguments: AllowedReaders.allCases) func refusedChips(allowed: AllowedReaders) {
        let trust = ReaderTrust(allowed: allowed, standIn: true, chips: .refuse)
        for place in [Self.builtIn, .virtual] {
            #expect(trust.distrust(place, approved: place, onChip: true) == .chip)
            #expect(trust.distrust(place, approved: place, onChip: false) == nil)
        }
        let outside = allowed == .any ? nil : ReaderDistrust.outside
        #expect(trust.distrust(Self.outside, approved: nil, onChip: false) == outside)
        #expect(trust.distrust(Self.outside, approved: nil, onChip: true) == .chip)
    }

    /// Catches a default that lets every port in, and an unusable file that does.
    @Test func defaultsAreStrict() {
        #expect(ReaderTrust(Configuration()) == ReaderTrust(allowed: .inside, standIn: false))
        #expect(Configuration.strictest.readers == .inside)
        #expect(Configuration.strictest.matchOnChip == .refuse)
        #expect(Configuration.strictest.foreignPrints == .close)
    }
}

@Suite struct RemoteServiceTests {
    /// Catches services that serve people afar and are passed over, and local ones whose names only begin alike.
    @Test(arguments: [
        ("sshd", true), ("xrdp-sesman", true), ("xrdp", true), ("vncserver-x11", true), ("vnc", true),
        ("cockpit", true),
        ("nx", true), ("remote", true), ("pop3", true), ("ssh-cert", true), ("sudo", false), ("login", false),
        ("su", false), ("gdm-password", false), ("nxt", false), ("sshdx", false), ("remotely", false), ("", false),
        ("polkit-1", false), ("ftp", true), ("popular", false), ("cupsd", false),
    ]) func names(service: String, isRemote: Bool) {
        #expect(RemoteService.isRemote(Array(service.utf8)) == isRemote)
    }
}
