/// What libpam does with a module's answer, pam.conf(5).
package enum PAMAction: Equatable, Sendable {
    case ignore
    case ok
    case done
    case bad
    case die
    case reset
    /// Skips this many modules; at least 1.
    case jump(Int)
}

/// An answer of a module, with the number that Linux-PAM's `_pam_types.h` gives it.
package struct PAMCode: Equatable, Sendable {
    package let number: UInt8

    private init(_ number: UInt8) { self.number = number }

    package static let success = PAMCode(0)
    package static let serviceError = PAMCode(3)
    package static let permissionDenied = PAMCode(6)
    package static let authenticationError = PAMCode(7)
    package static let authenticationInformationUnavailable = PAMCode(9)
    package static let userUnknown = PAMCode(10)
    package static let maximumTries = PAMCode(11)
    package static let newTokenRequired = PAMCode(12)
    package static let ignore = PAMCode(25)
    package static let moduleUnknown = PAMCode(28)

    /// Every answer that there is.
    package static var all: [PAMCode] { (0..<UInt8(names.count)).map { PAMCode($0) } }

    /// The word that stands for each number in a control list.
    static let names = [
        "success", "open_err", "symbol_err", "service_err", "system_err", "buf_err", "perm_denied", "auth_err",
        "cred_insufficient", "authinfo_unavail", "user_unknown", "maxtries", "new_authtok_reqd", "acct_expired",
        "session_err", "cred_unavail", "cred_expired", "cred_err", "no_module_data", "conv_err", "authtok_err",
        "authtok_recover_err", "authtok_lock_busy", "authtok_disable_aging", "try_again", "ignore", "abort",
        "authtok_expired", "module_unknown", "bad_item", "conv_again", "incomplete",
    ]

    package var name: String { Int(number) < PAMCode.names.count ? PAMCode.names[Int(number)] : "unknown" }
}

/// The control field of a module line: an action for each answer.
package struct PAMControl: Equatable, Sendable {
    /// One for each of `PAMCode.names`.
    private let actions: [PAMAction]

    /// The action for an answer; an answer out of range counts as bad, as in libpam.
    package subscript(code: PAMCode) -> PAMAction {
        Int(code.number) < actions.count ? actions[Int(code.number)] : .bad
    }

    /// How many modules its longest jump passes over; 0 where it has none.
    package var longestJump: Int {
        var longest = 0
        for case .jump(let count) in actions where count > longest { longest = count }
        return longest
    }

    /// The longest jump that a control may name.
    package static let jumpLimit = 255

    /// Takes one of the four words, or a list in its brackets; nil for anything else.
    package init?(_ text: [UInt8]) {
        if text.isText("required", ignoringCase: true) {
            actions = PAMControl.table(success: .ok, ignore: .ignore, others: .bad)
        } else if text.isText("requisite", ignoringCase: true) {
            actions = PAMControl.table(success: .ok, ignore: .ignore, others: .die)
        } else if text.isText("optional", ignoringCase: true) {
            actions = PAMControl.table(success: .ok, ignore: .ignore, others: .ignore)
        } else if text.isText("sufficient", ignoringCase: true) {
            actions = PAMControl.table(success: .done, ignore: .ignore, others: .ignore)
        } else if let list = PAMControl.list(text) {
            actions = list
        } else {
            return nil
        }
    }

    private init(actions: [PAMAction]) { self.actions = actions }

    /// The word `required`.
    package static var required: PAMControl { PAMControl(actions: table(success: .ok, ignore: .ignore, others: .bad)) }

    private static func table(success: PAMAction, ignore: PAMAction, others: PAMAction) -> [PAMAction] {
        var table = [PAMAction](repeating: others, count: PAMCode.names.count)
        for (code, action) in [(PAMCode.success, success), (.newTokenRequired, success), (.ignore, ignore)] {
            table[Int(code.number)] = action
        }
        return table
    }

    /// `[value=action …]`; what it does not name is bad.
    private static func list(_ text: [UInt8]) -> [PAMAction]? {
        guard text.count > 2, text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") else { return nil }
        var named = [PAMAction?](repeating: nil, count: PAMCode.names.count)
        var fallback: PAMAction?
        let blanks = text.dropFirst().dropLast()
        for pair in blanks.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }) {
            let parts = pair.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
            guard parts.count == 2, let action = action(named: parts[1]) else { return nil }
            if parts[0].isText("default") {
                // libpam fills what is still open at the first one; a second finds nothing to fill.
                fallback = fallback ?? action
            } else if let index = PAMCode.names.firstIndex(where: { parts[0].isText($0) }) {
                named[index] = action
            } else {
                return nil
            }
        }
        return named.map { $0 ?? fallback ?? .bad }
    }

    private static func action(named text: ArraySlice<UInt8>) -> PAMAction? {
        if text.isText("ignore") { return .ignore }
        if text.isText("ok") { return .ok }
        if text.isText("done") { return .done }
        if text.isText("bad") { return .bad }
        if text.isText("die") { return .die }
        if text.isText("reset") { return .reset }
        guard !text.isEmpty, text.count <= 3 else { return nil }
        var number = 0
        for byte in text {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            number = number * 10 + Int(byte - 0x30)
        }
        return number >= 1 && number <= jumpLimit ? .jump(number) : nil
    }
}
