internal import CPlatform

/// The words that sudo was started with, as far as they say how it asks: sudo tells a module nothing of it.
///
/// Read as sudo 1.9 reads them (sudo(8); getopt_long(3) with "+"). Whoever lies here, by another argv, gets the
/// program's conversation in place of the field or the other way round: both ask for the same PIN and count it alike.
package enum SudoArguments {
    /// How much of a command line is looked at, in bytes: options stand at its beginning.
    private static let limit = 1 << 14

    /// Whether this process, sudo, was told not to ask at the terminal: `-S`, `-A` or `-n`.
    package static func avoidTerminal() -> Bool {
        avoidTerminal(beginning(of: KeyedHash.bytes(of: "/proc/self/cmdline")))
    }

    /// The same for the words of a command line, each of which a zero ends.
    package static func avoidTerminal(_ commandLine: [UInt8]) -> Bool {
        var words = commandLine.split(separator: 0, omittingEmptySubsequences: false)
        // What follows the last zero is no word, or the part of one that did not fit.
        _ = words.popLast()
        guard let program = words.first else { return false }
        let name = program.split(separator: UInt8(ascii: "/")).last ?? []
        return avoidTerminal(words.dropFirst(), editing: name.elementsEqual("sudoedit".utf8))
    }

    private static func avoidTerminal(_ words: ArraySlice<ArraySlice<UInt8>>, editing: Bool) -> Bool {
        var rest = words
        while let word = rest.popFirst() {
            if isVariable(word) { continue }
            guard word.first == UInt8(ascii: "-"), word.count > 1, !word.elementsEqual("--".utf8) else { return false }
            let option =
                word.starts(with: "--".utf8)
                ? SudoOption.long(word.dropFirst(2), editing: editing) : SudoOption.short(word.dropFirst())
            switch option {
            case .avoidsTerminal: return true
            case .takesNextWord: _ = rest.popFirst()
            // A bare -h asks for help, or names the host that follows.
            case .mayTakeNextWord:
                if let next = rest.first, next.first != UInt8(ascii: "-"), !isVariable(next) { _ = rest.popFirst() }
            case .standsAlone: break
            }
        }
        return false
    }

    /// `NAME=value`: sudo sets it for the command, and goes on reading options after it.
    private static func isVariable(_ word: ArraySlice<UInt8>) -> Bool {
        guard let first = word.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "="), first != UInt8(ascii: "-")
        else { return false }
        return word.contains(UInt8(ascii: "="))
    }

    private static func beginning(of path: [UInt8]) -> [UInt8] {
        // SAFETY: the path is terminated and outlives the call.
        let raw = unsafe signet_openat(AT_FDCWD, path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC, 0)
        guard raw >= 0 else { return [] }
        let file = FileDescriptor(owning: raw)
        var content = [UInt8](repeating: 0, count: limit)
        var target = content.mutableSpan
        let count = (try? file.read(into: &target, at: 0)) ?? 0
        return Array(content[..<count])
    }
}

/// What one word of options does to the reading of sudo's command line.
private enum SudoOption {
    case standsAlone, avoidsTerminal, takesNextWord, mayTakeNextWord

    /// A word of one-letter options, without its dash: `kS`, or `ualice`, where the rest is u's argument.
    static func short(_ letters: ArraySlice<UInt8>) -> SudoOption {
        for (offset, letter) in letters.enumerated() {
            let isLast = offset == letters.count - 1
            switch letter {
            case UInt8(ascii: "S"), UInt8(ascii: "A"), UInt8(ascii: "n"): return .avoidsTerminal
            case UInt8(ascii: "a"), UInt8(ascii: "C"), UInt8(ascii: "c"), UInt8(ascii: "D"), UInt8(ascii: "g"),
                UInt8(ascii: "p"), UInt8(ascii: "R"), UInt8(ascii: "r"), UInt8(ascii: "T"), UInt8(ascii: "t"),
                UInt8(ascii: "U"), UInt8(ascii: "u"):
                return isLast ? .takesNextWord : .standsAlone
            case UInt8(ascii: "h"): return letters.count == 1 ? .mayTakeNextWord : .standsAlone
            default: continue
            }
        }
        return .standsAlone
    }

    /// A long option, without its dashes; it may be shortened as long as it is told from all others.
    static func long(_ word: ArraySlice<UInt8>, editing: Bool) -> SudoOption {
        let end = word.firstIndex(of: UInt8(ascii: "=")) ?? word.endIndex
        let name = word[..<end]
        var found: LongName?
        for candidate in editing ? LongName.common : LongName.ofSudoAlone + LongName.common
        where candidate.text.utf8.starts(with: name) {
            if candidate.text.utf8.count == name.count { return candidate.option(hasArgument: end < word.endIndex) }
            // Shortened beyond recognition: sudo explains itself and ends.
            if found != nil { return .standsAlone }
            found = candidate
        }
        return found?.option(hasArgument: end < word.endIndex) ?? .standsAlone
    }
}

private struct LongName {
    let text: String
    let kind: SudoOption

    init(_ text: String, _ kind: SudoOption = .standsAlone) {
        self.text = text
        self.kind = kind
    }

    func option(hasArgument: Bool) -> SudoOption { kind == .takesNextWord && hasArgument ? .standsAlone : kind }

    /// Those that `sudoedit` has not.
    static var ofSudoAlone: [LongName] {
        [
            LongName("background"), LongName("preserve-env"), LongName("edit"), LongName("set-home"),
            LongName("login"), LongName("remove-timestamp"), LongName("list"), LongName("preserve-groups"),
            LongName("shell"), LongName("other-user", .takesNextWord), LongName("validate"),
        ]
    }

    static var common: [LongName] {
        [
            LongName("askpass", .avoidsTerminal), LongName("auth-type", .takesNextWord), LongName("bell"),
            LongName("close-from", .takesNextWord), LongName("login-class", .takesNextWord),
            LongName("chdir", .takesNextWord), LongName("group", .takesNextWord), LongName("help"),
            LongName("host", .takesNextWord), LongName("reset-timestamp"), LongName("no-update"),
            LongName("non-interactive", .avoidsTerminal), LongName("prompt", .takesNextWord),
            LongName("chroot", .takesNextWord), LongName("role", .takesNextWord),
            LongName("stdin", .avoidsTerminal), LongName("command-timeout", .takesNextWord),
            LongName("type", .takesNextWord), LongName("user", .takesNextWord), LongName("version"),
        ]
    }
}
