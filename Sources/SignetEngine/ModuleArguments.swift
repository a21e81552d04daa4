internal import SignetRecords

/// The arguments of the module's line in a service file (`pam.conf(5)`).
package struct ModuleArguments: Equatable, Sendable {
    /// `conf=PATH`: the configuration file in place of the usual one; absolute.
    package var configuration: [UInt8]?
    /// `debug`: more lines in the journal.
    package var debug = false
    /// `finger=no`: for programs that run one stack for fingers and another for the PIN.
    package var fingerAllowed = true
    /// `pin=no`.
    package var pinAllowed = true
    /// `prompt=conversation`: never the terminal itself.
    package var conversationOnly = false
    /// `keypad=shuffled`: digits are chosen on a keypad that is drawn in another order each time.
    package var shuffledKeypad = false
    /// All that is understood, for a person who wrote something else; beside the parser, and tested against it.
    package static let known =
        "conf=PATH, debug, finger=no, keypad=no, keypad=shuffled, pin=no, prompt=auto and prompt=conversation"

    /// What was not understood; the finger path is closed then, and the journal says so.
    package var unknown: [[UInt8]] = []

    /// Reads the words one after another; a later one wins.
    package init(_ words: [[UInt8]]) {
        for word in words {
            if word.isText("debug") {
                debug = true
            } else if word.isText("finger=no") {
                fingerAllowed = false
            } else if word.isText("pin=no") {
                pinAllowed = false
            } else if word.isText("prompt=conversation") {
                conversationOnly = true
            } else if word.isText("prompt=auto") {
                conversationOnly = false
            } else if word.isText("keypad=shuffled") {
                shuffledKeypad = true
            } else if word.isText("keypad=no") {
                shuffledKeypad = false
            } else if let path = ModuleArguments.path(in: word) {
                configuration = path
            } else {
                unknown.append(word)
            }
        }
    }

    private static func path(in word: [UInt8]) -> [UInt8]? {
        let prefix = Array("conf=/".utf8)
        guard word.count > prefix.count, word.starts(with: prefix) else { return nil }
        return Array(word[(prefix.count - 1)...])
    }
}
