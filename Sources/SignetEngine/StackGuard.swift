package import SignetRecords

/// Why a service file was not rewritten; a person has to do it by hand.
package enum StackGuardFault: Error, Equatable, Sendable {
    case stack(StackFault)
    case noFile
    /// There is no password line whose place Signet could take.
    case noPasswordLine
    /// A line that cannot be kept as it is beside Signet's: it jumps over the password's lines, or stands in a substack.
    case lineInTheWay(file: [UInt8], line: Int)
    /// What came out would not do what Signet promises.
    case wouldNotHold(StackFinding)
}

/// Puts Signet's lines in the password lines' place in a service file, and keeps every other module.
///
/// Debian's files take their authentication lines from `common-auth`, which carries the password line, its fallback and
/// what other packages added. So the include is replaced by the lines it stands for, less the password's own: the
/// password modules, the `requisite pam_deny.so` that is reached when they fail, and the `required pam_permit.so` that
/// a jump from them reaches.
package struct StackGuard {
    /// What stands in the password's place: Signet's line, and what its yes passes over and lands on.
    ///
    /// Whoever deletes Signet's line alone leaves `pam_deny`, which refuses, and not modules that ask nobody and succeed.
    package static let block = "\(blockStart)\n\(blockEnd)"
    private static let blockStart = "auth\t[success=1 default=die]\tpam_signet.so"
    private static let blockEnd = "auth\trequisite\tpam_deny.so\nauth\trequired\tpam_permit.so\n"

    /// How the comment begins that says which include stood where its lines now stand; the name and a quotation mark follow.
    package static let mark = "# In place of \"include "

    private struct Piece {
        var text: [UInt8]
        /// The authentication module on this line, if it is one.
        let call: PAMModuleLine?
        let file: [UInt8]
        let line: Int
        var isDropped = false
    }

    private var pieces: [Piece] = []

    /// The file with Signet in the password's place; the same bytes where it, or a file that it includes, has Signet
    /// there already.
    ///
    /// Where Signet's line stands, and the password is asked for all the same or lets somebody in, the lines are written anew.
    package static func guarded(
        _ service: [UInt8], read: ([UInt8]) -> [UInt8]?
    ) throws(StackGuardFault) -> [UInt8] {
        guard let original = read(service) else { throw .noFile }
        let stack: AuthenticationStack
        do { stack = try AuthenticationStack(service: service, read: read) } catch { throw .stack(error) }
        guard stack.firstSignet != nil else { return try rewritten(original, of: service, read: read) }
        let amiss = StackReview.findingsAlone(for: service, read: read).first { isAmiss($0) }
        guard let amiss else { return original }
        if let result = try? rewritten(original, of: service, read: read) { return result }
        if amiss.severity == .failure { throw .wouldNotHold(amiss) }
        return original
    }

    private static func rewritten(
        _ original: [UInt8], of service: [UInt8], read: ([UInt8]) -> [UInt8]?
    ) throws(StackGuardFault) -> [UInt8] {
        var work = StackGuard()
        try work.collect(original, of: service, read: read)
        try work.replacePassword()
        let result = Array(work.pieces.filter { !$0.isDropped }.map { $0.text }.joined())
        let findings = StackReview.findingsAlone(for: service) { $0 == service ? result : read($0) }
        if let finding = findings.first(where: { isFailure($0) }) { throw .wouldNotHold(finding) }
        return result
    }

    /// Only the partner may still be to come.
    private static func isFailure(_ finding: StackFinding) -> Bool {
        if case .partnerNotGuarded = finding.matter { return false }
        return finding.severity == .failure
    }

    /// Whether the lines do not do what those would that are written here.
    private static func isAmiss(_ finding: StackFinding) -> Bool {
        switch finding.matter {
        case .systemPasswordNeededToo, .passwordStillAsked: true
        default: isFailure(finding)
        }
    }

    /// Takes the file apart, with those includes opened that bring a password line.
    private mutating func collect(
        _ bytes: [UInt8], of service: [UInt8], read: ([UInt8]) -> [UInt8]?
    ) throws(StackGuardFault) {
        let file: PAMFile
        do { file = try PAMFile(parsing: bytes) } catch { throw .stack(.malformed(file: service, error)) }
        for statement in file.statements {
            let kept = Piece(text: statement.text, call: nil, file: service, line: statement.line)
            switch statement.directive {
            case .module(let call) where call.type == .auth:
                pieces.append(Piece(text: statement.text, call: call, file: service, line: statement.line))
            case .include(.auth, let name), .includeAll(let name):
                let inner: AuthenticationStack
                do { inner = try AuthenticationStack(included: name, read: read) } catch { throw .stack(error) }
                guard inner.modules.contains(where: { $0.kind == .password || $0.kind == .signet }) else {
                    pieces.append(kept)
                    continue
                }
                guard !inner.modules.contains(where: { $0.kind == .substack }) else {
                    throw .lineInTheWay(file: service, line: statement.line)
                }
                try open(inner, name: name, isAll: statement.directive == .includeAll(name: name), read: read)
            case .substack(.auth, let name):
                let inner: AuthenticationStack
                do { inner = try AuthenticationStack(included: name, read: read) } catch { throw .stack(error) }
                // Jumps and "done" mean something else outside of the substack.
                guard !inner.modules.contains(where: { $0.kind == .password || $0.kind == .signet }) else {
                    throw .lineInTheWay(file: service, line: statement.line)
                }
                pieces.append(kept)
            case .module, .include, .substack, .nothing:
                pieces.append(kept)
            }
        }
    }

    private mutating func open(
        _ inner: AuthenticationStack, name: [UInt8], isAll: Bool, read: ([UInt8]) -> [UInt8]?
    ) throws(StackGuardFault) {
        let shown = String(decoding: name, as: UTF8.self)
        add("\(StackGuard.mark)\(shown)\": its lines, pam_signet.so for the password; see pam_signet(8).\n", name)
        for module in inner.modules {
            pieces.append(
                Piece(text: StackGuard.text(of: module.call), call: module.call, file: module.file, line: module.line))
        }
        // "@include" also brought the other types, if the file has them.
        guard isAll, let bytes = read(name) else { return }
        let file: PAMFile
        do { file = try PAMFile(parsing: bytes) } catch { throw .stack(.malformed(file: name, error)) }
        for type in PAMType.allCases where type != .auth && file.statements.contains(where: { $0.concerns(type) }) {
            add("\(type.name)\tinclude\t\(shown)\n", name)
        }
    }

    private mutating func add(_ text: String, _ file: [UInt8]) {
        pieces.append(Piece(text: Array(text.utf8), call: nil, file: file, line: 0))
    }

    private mutating func replacePassword() throws(StackGuardFault) {
        /// An authentication module, and its place among all of them, which is what jumps count.
        typealias Entry = (piece: Int, place: Int, call: PAMModuleLine, kind: StackModuleKind)
        var all: [Entry] = []
        for (index, piece) in pieces.enumerated() {
            if let call = piece.call { all.append((index, all.count, call, StackModuleKind(call))) }
        }
        let arguments = try dropSignet(all.filter { $0.kind == .signet }.map { $0.piece })
        let calls = all.filter { $0.kind != .signet }
        guard var first = calls.firstIndex(where: { $0.kind == .password }),
            let last = calls.lastIndex(where: { $0.kind == .password })
        else { throw .noPasswordLine }
        // Other modules of the same block (pam_fprintd before pam_unix) grant in the password's stead.
        while first > 0, calls[first - 1].kind == .otherProof, StackGuard.leaps(calls[first - 1].call) { first -= 1 }
        var end = last + 1
        while end < calls.count, calls[end].kind == .failureCount || StackGuard.countsSuccess(calls[end].call) {
            end += 1
        }
        if end < calls.count, calls[end].kind == .deny { end += 1 }
        if end < calls.count, calls[end].kind == .permit { end += 1 }

        for entry in calls[first..<end] where !StackGuard.keeps(entry.call) { pieces[entry.piece].isDropped = true }
        pieces[calls[first].piece].isDropped = true
        for entry in all where !pieces[entry.piece].isDropped {
            let jump = entry.call.control.longestJump
            let isInBlock = entry.place >= calls[first].place && entry.place <= calls[end - 1].place
            let passesOver = all.contains {
                $0.place > entry.place && $0.place <= entry.place + jump && pieces[$0.piece].isDropped
            }
            if passesOver || (isInBlock && jump > 0) {
                throw .lineInTheWay(file: pieces[entry.piece].file, line: pieces[entry.piece].line)
            }
        }
        pieces[calls[first].piece].text =
            Array(StackGuard.blockStart.utf8) + StackGuard.text(of: arguments) + Array("\n\(StackGuard.blockEnd)".utf8)
        pieces[calls[first].piece].isDropped = false
    }

    /// Takes Signet's lines out, which will stand in the password's place; their arguments, where all have the same.
    private mutating func dropSignet(_ places: [Int]) throws(StackGuardFault) -> [[UInt8]] {
        var arguments: [[UInt8]]?
        for place in places {
            guard let call = pieces[place].call else { continue }
            if let arguments, arguments != call.arguments {
                throw .lineInTheWay(file: pieces[place].file, line: pieces[place].line)
            }
            arguments = call.arguments
            pieces[place].isDropped = true
        }
        return arguments ?? []
    }

    /// Kinds that belong to the password block and go with it.
    private static func isPassword(_ kind: StackModuleKind) -> Bool {
        switch kind {
        case .password, .deny, .permit, .failureCount: true
        case .signet, .program, .otherProof, .root, .membership, .gate, .substack, .unknown: false
        }
    }

    /// Whether a module stays beside Signet, when it stands among the password's lines.
    package static func keeps(_ call: PAMModuleLine) -> Bool {
        let kind = StackModuleKind(call)
        return !isPassword(kind) && kind != .substack && kind != .signet && !countsSuccess(call)
            && !(kind == .otherProof && leaps(call))
    }

    /// Whether the line's success passes over what follows.
    private static func leaps(_ call: PAMModuleLine) -> Bool {
        switch call.control[.success] {
        case .done, .jump: true
        case .ignore, .ok, .bad, .die, .reset: false
        }
    }

    /// `pam_faillock authsucc`, which takes the password's success to end the stack.
    private static func countsSuccess(_ call: PAMModuleLine) -> Bool {
        call.name.isText("pam_faillock.so") && call.arguments.contains { $0.isText("authsucc") }
    }

    /// A module line written anew, on one line.
    private static func text(of call: PAMModuleLine) -> [UInt8] {
        var text = Array((call.quiet ? "-auth\t" : "auth\t").utf8)
        text += call.controlText
        text += Array("\t".utf8)
        text += call.module
        return text + StackGuard.text(of: call.arguments) + [0x0A]
    }

    /// A module's arguments, each with a blank before it.
    private static func text(of arguments: [[UInt8]]) -> [UInt8] {
        var text: [UInt8] = []
        for argument in arguments {
            text.append(0x20)
            let needsBrackets = argument.isEmpty || argument.contains(0x20) || argument.contains(0x09)
            if needsBrackets { text.append(UInt8(ascii: "[")) }
            for byte in argument {
                if needsBrackets, byte == UInt8(ascii: "]") { text.append(UInt8(ascii: "\\")) }
                text.append(byte)
            }
            if needsBrackets { text.append(UInt8(ascii: "]")) }
        }
        return text
    }
}

extension PAMStatement {
    /// Whether it brings something of this type.
    fileprivate func concerns(_ type: PAMType) -> Bool {
        switch directive {
        case .module(let call): call.type == type
        case .include(let other, _), .substack(let other, _): other == type
        case .includeAll: true
        case .nothing: false
        }
    }
}
