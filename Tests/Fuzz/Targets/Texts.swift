import SignetPolicy
import SignetRecords

extension FuzzTarget {
    /// What administrators write, and other programs' folders.
    static let texts = [
        FuzzTarget("configuration", longest: 2048, configuration),
        FuzzTarget("pam-file", longest: 2048, pamFile),
        FuzzTarget("pam-control", longest: 256, pamControl),
        FuzzTarget("fprintd-name", longest: 160, fprintdName),
    ]

    /// A file with a problem closes the finger path and sets the strictest bounds; one without keeps all bounds.
    private static func configuration(_ bytes: [UInt8]) -> Outcome {
        let file = ConfigurationFile(bytes)
        let rules = file.configuration
        guard (1...3).contains(rules.fingerTries), (1...5).contains(rules.fingerLimit),
            (5...60).contains(rules.fingerTimeout), (1...15).contains(rules.readerTimeout),
            (5...10).contains(rules.pinLimit), (4...64).contains(rules.pinMinimumLength),
            rules.pinMaximumLength >= rules.pinMinimumLength, rules.pinMaximumLength <= 64,
            (1...72).contains(rules.pinFreshHours), (3...8).contains(rules.argon2Passes),
            (64...512).contains(rules.argon2MemoryMiB)
        else { return .broken("leaves a bound") }
        for path in [rules.sensorHelper, rules.enclaveHelper] {
            guard let path else { continue }
            guard path.first == UInt8(ascii: "/"), !path.contains(0) else { return .broken("has a path of no root") }
        }
        if let mask = rules.pinMask, !(0x20...0x7E).contains(mask) { return .broken("shows a control character") }
        guard !file.problems.isEmpty else { return .accepted }
        guard rules == rules.madeStrictest, !rules.finger else { return .broken("is damaged and lenient") }
        guard file.problems.count <= ConfigurationFile.problemLimit else { return .broken("lists without end") }
        for problem in file.problems {
            guard problem.line >= 1, problem.column >= 1 else { return .broken("points nowhere") }
            // The sentence goes to a terminal, and names from the file are in it.
            guard problem.sentence.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                return .broken("lets the file write to the terminal")
            }
        }
        return .refused
    }

    /// No byte of a service file is lost, or `signet pam guard` would print another file than it read.
    private static func pamFile(_ bytes: [UInt8]) -> Outcome {
        guard let file = try? PAMFile(parsing: bytes) else { return .refused }
        guard file.statements.flatMap(\.text) == bytes else { return .broken("loses bytes of the file") }
        var last = 0
        for statement in file.statements {
            guard statement.line > last else { return .broken("counts lines backwards") }
            last = statement.line
            guard case .module(let line) = statement.directive else { continue }
            guard PAMControl(line.controlText) == line.control else { return .broken("shows another control") }
            guard line.arguments.count <= PAMFile.argumentLimit else { return .broken("has too many arguments") }
        }
        return .accepted
    }

    /// A control never jumps backwards or over more than there can be, and an answer that it cannot name is bad.
    private static func pamControl(_ bytes: [UInt8]) -> Outcome {
        guard let control = PAMControl(bytes) else { return .refused }
        for code in PAMCode.all {
            guard case .jump(let count) = control[code] else { continue }
            guard (1...PAMControl.jumpLimit).contains(count), count <= control.longestJump else {
                return .broken("jumps out of bounds")
            }
        }
        return .accepted
    }

    /// A name that is accepted is one plain component of a path and moves no cursor.
    private static func fprintdName(_ bytes: [UInt8]) -> Outcome {
        let isName = FprintdName.isDriver(bytes) || FprintdName.isDevice(bytes)
        if let finger = FprintdName.finger(bytes) {
            let digits = Array("0123456789a".utf8)
            guard bytes == [digits[Int(finger.number)]] else { return .broken("is another finger") }
        } else if !isName {
            return .refused
        }
        guard !bytes.isEmpty, !bytes.contains(0), !bytes.contains(UInt8(ascii: "/")), bytes != Array(".".utf8),
            bytes != Array("..".utf8)
        else { return .broken("is no plain component") }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), String(validating: bytes, as: UTF8.self) != nil else {
            return .broken("is no plain text")
        }
        return .accepted
    }
}
