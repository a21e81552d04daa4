/// A finger by libfprint's number: 1–5 the left hand from thumb to little finger, 6–10 the right (`FpFinger`).
package struct Finger: Equatable, Sendable {
    package let number: UInt8

    /// Takes 1–10; nil for any other number.
    package init?(number: UInt8) {
        guard number >= 1, number <= 10 else { return nil }
        self.number = number
    }

    /// All ten, in libfprint's order.
    package static var all: [Finger] { (1...10).compactMap { Finger(number: $0) } }

    /// The name a person reads: "right index".
    package var name: String {
        let hand = number <= 5 ? "left" : "right"
        switch (number - 1) % 5 {
        case 0: return "\(hand) thumb"
        case 1: return "\(hand) index"
        case 2: return "\(hand) middle"
        case 3: return "\(hand) ring"
        default: return "\(hand) little"
        }
    }
}

/// What tells one kind of reader, and where the driver knows it one reader, from another.
package struct ReaderIdentity: Equatable, Sendable {
    /// libfprint's driver name, UTF-8, at most 64 bytes.
    package let driver: [UInt8]
    /// libfprint's device id, UTF-8, at most 128 bytes; "0" where the driver knows no serial number.
    package let device: [UInt8]

    package init(driver: [UInt8], device: [UInt8]) {
        self.driver = driver
        self.device = device
    }

    /// Whether the driver is one of libfprint's virtual ones, which say "match" to whoever holds their socket.
    package var isVirtual: Bool { driver.starts(with: "virtual_".utf8) }
}

/// What a reader can do and is called.
package struct ReaderDescription: Equatable, Sendable {
    package let identity: ReaderIdentity
    package let place: ReaderPlace
    /// The name libfprint gives it, UTF-8, for people to read.
    package let name: [UInt8]
    /// The number of touches an enrollment takes at most.
    package let stages: UInt8
    /// Whether fingers are swiped over it, and not laid on it.
    package let swipes: Bool
    /// Whether it compares a finger with many prints at once.
    package let identifies: Bool
    /// Whether prints live in its own memory.
    package let storesPrints: Bool
    /// Whether it can tell which prints are in its memory.
    package let listsPrints: Bool

    package init(
        identity: ReaderIdentity, place: ReaderPlace, name: [UInt8], stages: UInt8, swipes: Bool, identifies: Bool,
        storesPrints: Bool, listsPrints: Bool
    ) {
        self.identity = identity
        self.place = place
        self.name = name
        self.stages = stages
        self.swipes = swipes
        self.identifies = identifies
        self.storesPrints = storesPrints
        self.listsPrints = listsPrints
    }
}

/// A reader that is there in the place of one that is not: a repaired machine has another sensor.
package struct ReaderExchange: Equatable, Sendable {
    /// The name of the one that is there, UTF-8, for people to read.
    package let present: [UInt8]
    /// The driver of the one with which the user enrolled, which is all that is known of it.
    package let enrolled: [UInt8]
    /// Whether both have one driver, so that they are told apart by what libfprint calls their serial number.
    package let isSameKind: Bool
    /// Whether the prints are fprintd's, so that it is the desktop's settings that enrol.
    package let isKeptElsewhere: Bool

    package init(present: [UInt8], enrolled: [UInt8], isSameKind: Bool, isKeptElsewhere: Bool) {
        self.present = present
        self.enrolled = enrolled
        self.isSameKind = isSameKind
        self.isKeptElsewhere = isKeptElsewhere
    }
}

/// Where a print of the enrollment set was found when the reader was opened.
package enum PrintPresence: UInt8, Equatable, Sendable {
    /// The template lies on the host, nothing is kept by the reader.
    case host = 1
    /// The reader lists it.
    case onReader = 2
    /// The reader lists its prints and this is not among them, after closing and opening as well.
    case missing = 3
    /// The reader keeps it but cannot list.
    case unlistable = 4
}

/// Why a touch was no try: the reader asks for another one.
package enum RetryReason: UInt8, Equatable, Sendable {
    case general = 1
    case tooShort = 2
    case centreFinger = 3
    case removeFinger = 4
    case tooFast = 5
}

/// Why a reader cannot be used.
package enum ReaderProblem: UInt8, Equatable, Sendable, Error {
    case noReader = 1
    case busy = 2
    case removed = 3
    case tooHot = 4
    case notPermitted = 5
    case timedOut = 6
    /// The reader or its driver broke the protocol, or reported a fault.
    case faulty = 7
    /// The helper is missing, unsafe to start, died, or spoke nonsense.
    case helperFailed = 8
    /// The reader's memory has no room.
    case storageFull = 9
    /// The reader knows this finger already.
    case duplicate = 10
    /// The reader cannot do what was asked.
    case unsupported = 11
    /// The print is not in the reader's memory.
    case printNotFound = 12
    /// Only virtual readers are there, and they are refused.
    case virtualRefused = 13
    /// The machine slept while the reader was in use, and the reader did not come back.
    case slept = 14
    /// An armed reader, or the helper in its driver, says nothing more.
    case stalled = 15
    /// The driver goes on waiting for a finger when it is asked to stop.
    case cancelIgnored = 16
    /// The bus lists the reader, and it is not there.
    case ghost = 17
}
