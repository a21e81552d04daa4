import Foundation
import SignetPolicy
import Testing

@testable import SignetRecords

private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

private func read(_ text: String) -> ConfigurationFile { ConfigurationFile(Array(text.utf8)) }

@Suite struct ConfigurationFileTests {
    /// Catches a reader that asks for more than the format: an empty file means the defaults.
    @Test(arguments: ["", "\n", "# nothing\n", "  \t\n\r\n", "\u{FEFF}# mark\n", "#"]) func emptyMeansDefaults(
        text: String
    ) {
        let file = read(text)
        #expect(file.problems == [])
        #expect(file.configuration == Configuration())
    }

    /// Catches a key that sets nothing, blanks that count, and a last line without its end.
    @Test(arguments: ["\n", "\r\n"]) func readsEveryKey(lineEnd: String) {
        let lines = [
            "finger=no", "finger_tries = 2", "\tfinger_limit\t=\t3", "finger_timeout = 60 ", "reader_timeout = 15",
            "# comment", "pin_limit = 5", "", "pin_min_length = 8", "pin_max_length = 8", "pin_fresh_hours = 1",
            "argon2_passes = 8", "argon2_memory = 512", "pin_mask = o", "enrollment_source = fprintd",
            "match_on_chip = refuse", "foreign_prints=close",
            "sensor_helper = /opt/a b/ü#1", "enclave = require", "tpm = swtpm:path=/run/tpm.1/a-b_c",
            "enclave_helper = /opt/enclave",
        ]
        let file = read(lines.joined(separator: lineEnd))
        var expected = Configuration()
        expected.finger = false
        expected.fingerTries = 2
        expected.fingerLimit = 3
        expected.fingerTimeout = 60
        expected.readerTimeout = 15
        expected.pinLimit = 5
        expected.pinMinimumLength = 8
        expected.pinMaximumLength = 8
        expected.pinFreshHours = 1
        expected.argon2Passes = 8
        expected.argon2MemoryMiB = 512
        expected.pinMask = 0x6F
        expected.enrollmentSource = .fprintd
        expected.matchOnChip = .refuse
        expected.foreignPrints = .close
        expected.sensorHelper = Array("/opt/a b/ü#1".utf8)
        expected.enclave = .require
        expected.tpm = Array("swtpm:path=/run/tpm.1/a-b_c".utf8)
        expected.enclaveHelper = Array("/opt/enclave".utf8)
        #expect(file.problems == [])
        #expect(file.configuration == expected)
    }

    /// Catches a problem that is passed over, or told with a wrong place or cause.
    @Test(arguments: [
        ("finger_limit = 6", "line 1, column 16: finger_limit must be between 1 and 5"),
        ("\n\nfinger_limit=0", "line 3, column 14: finger_limit must be between 1 and 5"),
        ("finger_timeout = 61", "line 1, column 18: finger_timeout must be between 5 and 60 seconds"),
        ("argon2_memory = 99999999999999999999999", "line 1, column 17: argon2_memory must be between 64 and 512 MiB"),
        ("finger_limit = 05", "line 1, column 16: finger_limit must be a whole number between 1 and 5"),
        ("finger_limit = -1", "line 1, column 16: finger_limit must be a whole number between 1 and 5"),
        ("finger_limit = 3.0", "line 1, column 16: finger_limit must be a whole number between 1 and 5"),
        ("finger_limit =", "line 1, column 15: finger_limit must be a whole number between 1 and 5"),
        ("finger_limit = 3 # strict", "line 1, column 18: a comment needs a line of its own"),
        ("enrollment_source = Fprintd", "line 1, column 21: enrollment_source must be signet or fprintd"),
        ("match_on_chip = no", "line 1, column 17: match_on_chip must be allow or refuse"),
        ("foreign_prints = delete", "line 1, column 18: foreign_prints must be report or close"),
        ("finger = Yes", "line 1, column 10: finger must be yes or no"),
        ("  fingr = yes", "line 1, column 3: unknown key \"fingr\""),
        ("Finger = yes", "line 1, column 1: unknown key \"Finger\""),
        ("a\u{202E}b = 1", "line 1, column 1: unknown key \"a?b\""),
        (" = yes", "line 1, column 2: there is no key before \"=\""),
        (
            " finger yes",
            "line 1, column 2: \"=\" is missing; a line is \"key = value\", or a comment that begins with \"#\""
        ),
        ("finger = yes\nfinger = yes", "line 2, column 1: finger was set in line 1 already"),
        ("finger = yes\rfinger = no", "line 1, column 13: a control character is not allowed here"),
        ("# ü\u{1B}[2J", "line 1, column 4: a control character is not allowed here"),
        ("finger = yes\r", "line 1, column 13: a control character is not allowed here"),
        (
            "pin_mask = **",
            "line 1, column 12: pin_mask must be one printable ASCII character but \"#\", or none"
        ),
        ("pin_mask =", "line 1, column 11: pin_mask must be one printable ASCII character but \"#\", or none"),
        ("pin_mask = •", "line 1, column 12: pin_mask must be one printable ASCII character but \"#\", or none"),
        ("pin_mask = None", "line 1, column 12: pin_mask must be one printable ASCII character but \"#\", or none"),
        ("pin_mask = #", "line 1, column 12: a comment needs a line of its own"),
        ("sensor_helper = bin/x", "line 1, column 17: sensor_helper must be an absolute path without \"..\", or empty"),
        (
            "sensor_helper = /a/../x",
            "line 1, column 17: sensor_helper must be an absolute path without \"..\", or empty"
        ),
        ("sensor_helper = /a//x", "line 1, column 17: sensor_helper must be an absolute path without \"..\", or empty"),
        ("sensor_helper = /", "line 1, column 17: sensor_helper must be an absolute path without \"..\", or empty"),
        ("enclave = tpm", "line 1, column 11: enclave must be require, prefer or file"),
        ("enclave = Require", "line 1, column 11: enclave must be require, prefer or file"),
        ("enclave =", "line 1, column 10: enclave must be require, prefer or file"),
        (
            "tpm = tabrmd:",
            "line 1, column 7: tpm must be device:/dev/NAME, or swtpm:path= and an absolute path without \"..\""
        ),
        (
            "enclave_helper = x",
            "line 1, column 18: enclave_helper must be an absolute path without \"..\", or empty"
        ),
        ("pin_max_length = 5", "line 1, column 18: pin_max_length must not be below pin_min_length"),
        (
            "pin_max_length = 20\npin_min_length = 21",
            "line 1, column 18: pin_max_length must not be below pin_min_length"
        ),
    ]) func problems(text: String, sentence: String) {
        let file = read(text)
        #expect(file.problems.map(\.sentence) == [sentence])
        #expect(file.configuration == .strictest)
    }

    /// Catches a sign that is taken for a word of its own, or the other way round.
    @Test(
        arguments: [("none", nil), ("n", 0x6E), ("=", 0x3D), ("\"", 0x22), ("*", 0x2A), ("~", 0x7E)]
            as [(String, UInt8?)])
    func masks(value: String, mask: UInt8?) {
        #expect(read("pin_mask = \(value)").problems == [])
        #expect(read("pin_mask = \(value)").configuration.pinMask == mask)
    }

    /// Catches a connection that makes tpm2-tss run a program, ask the network, search, or leave /dev.
    @Test(arguments: [
        "", "device:", "device:/dev/", "device:/etc/x", "device:/dev/../etc/x", "device:/dev//tpm0",
        "device:/dev/a/./b",
        "device:dev/tpm0", "device", "/dev/tpm0", "Device:/dev/tpm0", "cmd:/bin/sh", "mssim:host=h,port=2321",
        "tabrmd:bus_name=x", "pcap:device:/dev/tpm0", "libtss2-tcti-device.so:/dev/tpm0", "swtpm:", "swtpm:path=",
        "swtpm:path=/", "swtpm:path=run/s", "swtpm:path=/run/../s", "swtpm:path=/run/s,host=h", "swtpm:host=h,port=1",
        "swtpm:path=/run/s=", "swtpm:path=/run/a b", "swtpm:path=/\(String(repeating: "a", count: 102))",
    ]) func refusesOtherConnections(connection: String) {
        let file = read("tpm = \(connection)")
        #expect(file.problems.map(\.cause) == [.badValue(.tpm)])
        #expect(file.configuration.tpm == Array("device:/dev/tpmrm0".utf8))
        var configuration = Configuration()
        let accepted = configuration.set(.tpm, to: .connection(Array(connection.utf8)))
        #expect(!accepted)
    }

    /// Catches a right device that is refused.
    @Test(arguments: [
        "device:/dev/tpm0", "device:/dev/tpmrm1", "device:/dev/tpm/by-id/x_1", "swtpm:path=/s",
        "swtpm:path=/\(String(repeating: "a", count: 101))",
    ]) func takesConnections(connection: String) {
        #expect(read("tpm = \(connection)").problems == [])
        #expect(read("tpm = \(connection)").configuration.tpm == Array(connection.utf8))
    }

    /// Catches a slip elsewhere in the file that moves Signet to another TPM, where no PIN would open anything, or that
    /// gives a new store a weaker key than the administrator asked for.
    @Test func aSlipElsewhereKeepsWhereTheSecretsAre() {
        let file = read(
            "enclave = require\ntpm = device:/dev/tpmrm1\nenclave_helper = /e\nfinger = maybe\ntpm = device:/dev/x\n")
        var expected = Configuration.strictest
        expected.enclave = .require
        expected.tpm = Array("device:/dev/tpmrm1".utf8)
        expected.enclaveHelper = Array("/e".utf8)
        #expect(file.problems.map(\.line) == [4, 5])
        #expect(file.configuration == expected)
        #expect(read("enclave = fil\n").configuration == .strictest)
    }

    /// Catches bytes that are no text, where the place is what helps.
    @Test func refusesWhatIsNotUTF8() {
        let file = ConfigurationFile(Array("# ü\nfinger ".utf8) + [0xC3, 0x28])
        #expect(file.problems == [ConfigurationProblem(line: 2, column: 8, cause: .notUTF8)])
    }

    /// Catches a reader that stops at the first problem, or lets the good lines rule beside the bad one.
    @Test func collectsAllProblems() {
        let file = read("finger_tries = 9\nfinger_limit = 4\nnonsense\nwhat = 1\n")
        #expect(file.problems.map(\.line) == [1, 3, 4])
        #expect(file.configuration == .strictest)
    }

    /// Catches a file that makes the reader work or report without end.
    @Test func hasLimits() {
        #expect(read(String(repeating: "x\n", count: 30_000)).problems.count == ConfigurationFile.problemLimit)
        #expect(read(String(repeating: "x\n", count: 30_000)).problems.last?.cause == .moreProblems)
        #expect(read(String(repeating: "#", count: ConfigurationFile.sizeLimit)).problems == [])
        let large = read(String(repeating: "#", count: ConfigurationFile.sizeLimit + 1))
        #expect(large.problems.map(\.sentence) == ["line 1, column 1: the file is larger than 64 KiB"])
        #expect(large.configuration == .strictest)
    }

    /// Catches a trap, or a damaged file that loosens the policy without a problem.
    @Test func mutationsNeitherTrapNorLoosen() throws {
        let shipped = Array(try Data(contentsOf: root.appending(path: "pam/signet.conf")))
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var bytes = shipped
            for _ in 0..<8 { bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255) }
            let file = ConfigurationFile(bytes)
            #expect(file.problems.isEmpty || file.configuration == file.configuration.madeStrictest)
            #expect(file.problems.allSatisfy { $0.line >= 1 && $0.column >= 1 && !$0.sentence.isEmpty })
            for key in ConfigurationKey.allCases {
                var configuration = Configuration()
                let accepted = configuration.set(key, to: file.configuration.value(of: key))
                #expect(accepted)
            }
        }
    }
}

@Suite struct ShippedConfigurationTests {
    /// The shipped file with the comment sign before each key removed, and the keys in their order.
    private func uncommented() throws -> (text: String, keys: [String]) {
        let text = try String(contentsOf: root.appending(path: "pam/signet.conf"), encoding: .utf8)
        var keys: [String] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> Substring in
            guard line.hasPrefix("#"), let first = line.dropFirst().first, first.isLetter else { return line }
            keys.append(String(line.dropFirst().prefix { $0 != " " }))
            return line.dropFirst()
        }
        return (lines.joined(separator: "\n"), keys)
    }

    /// Catches a default in the shipped file that is not the one in force, and a key that it does not show.
    @Test func showsEveryDefault() throws {
        let (text, keys) = try uncommented()
        let file = read(text)
        #expect(file.problems.map(\.sentence) == [])
        #expect(file.configuration == Configuration())
        #expect(keys == KeyDescription.all.map(\.name))
        for description in KeyDescription.all {
            #expect(text.contains("\n\(description.name) = \(description.defaultText)".trimmingSuffix() + "\n"))
        }
    }

    /// Catches a shipped file that sets something, or is not usable as it is.
    @Test func setsNothing() throws {
        let text = try String(contentsOf: root.appending(path: "pam/signet.conf"), encoding: .utf8)
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
        #expect(read(text).problems == [])
    }

    /// Catches a bound that was changed in the table and not in the explanation beside the key.
    @Test func explainsTheBounds() throws {
        let text = try String(contentsOf: root.appending(path: "pam/signet.conf"), encoding: .utf8)
        var explanations: [String: String] = [:]
        for paragraph in text.components(separatedBy: "\n\n") {
            for description in KeyDescription.all where paragraph.contains("\n#\(description.name) =") {
                explanations[description.name] = paragraph.replacingOccurrences(of: "\n# ", with: " ")
            }
        }
        for description in KeyDescription.all {
            #expect(explanations[description.name]?.contains(description.boundsText.replacing("an ", with: "")) == true)
        }
    }
}

extension String {
    fileprivate func trimmingSuffix() -> String {
        var result = self
        while result.hasSuffix(" ") { result.removeLast() }
        return result
    }
}
