internal import CPlatform

/// What is known of whoever called, without asking.
package struct CallerFacts: Equatable, Sendable {
    /// The real uid of this process (`getresuid(2)`): under sudo and su the person who typed the command.
    package let realUID: UInt32
    package let isRemote: Bool
    package let lidClosed: Bool

    package init(user: UInt32?, remoteHost: [UInt8]?) {
        realUID = getuid()
        isRemote = remoteHost != nil
        lidClosed = false
    }
}
