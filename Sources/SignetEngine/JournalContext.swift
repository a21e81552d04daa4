/// Who asked whom for what, as every line of the journal tells it.
package struct JournalContext: Equatable, Sendable {
    /// PAM's name of the program, or "signet" for the command line.
    package var service: [UInt8]
    /// The user who is to be authenticated or managed.
    package var user: [UInt8]
    /// PAM_TTY; empty where there is none.
    package var terminal: [UInt8]
    /// PAM_RHOST; empty for a caller at the machine.
    package var remoteHost: [UInt8]
    /// The real uid of the calling process.
    package var realUID: UInt32
    /// Whether an account has that name; where none has, it may be a password that was typed in the name's place.
    package var userIsKnown: Bool
    /// Whether the configuration names another reader helper than the shipped one.
    package var usesStandInReader: Bool
    /// Whether the configuration names another TPM than a device, or another TPM helper than the shipped one.
    package var usesStandInTPM: Bool

    package init(
        service: [UInt8], user: [UInt8], terminal: [UInt8], remoteHost: [UInt8], realUID: UInt32,
        userIsKnown: Bool = true, usesStandInReader: Bool = false, usesStandInTPM: Bool = false
    ) {
        self.service = service
        self.user = user
        self.terminal = terminal
        self.remoteHost = remoteHost
        self.realUID = realUID
        self.userIsKnown = userIsKnown
        self.usesStandInReader = usesStandInReader
        self.usesStandInTPM = usesStandInTPM
    }
}
