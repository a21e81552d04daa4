import Foundation
import Proof
import SignetEngine
import SignetPolicy
import Testing

@testable import SignetPlatform

/// A configuration whose bytes are not those that the administrator wrote.
@Suite(.enabled(if: isRoot, "only root can make files that belong to root")) struct DamagedConfigurationTests {
    private static let text = """
        # Signet
        finger = yes
        finger_tries = 2
        finger_limit = 4
        finger_timeout = 20
        reader_timeout = 5
        pin_limit = 8
        pin_min_length = 6
        pin_max_length = 32
        pin_fresh_hours = 12
        argon2_passes = 4
        argon2_memory = 128
        pin_mask = *
        readers = internal
        match_on_chip = allow
        foreign_prints = close
        enrollment_source = signet
        enclave = prefer
        tpm = device:/dev/tpmrm0

        """

    /// Catches damage that traps, that loosens a limit beyond its hard bound, or that leaves the fingers open although a line
    /// could not be read.
    @Test func everyChange() throws {
        let folder = try TestFolder()
        let path = folder.sub("signet.conf")
        let valid = Array(Self.text.utf8)
        try #require(
            FileManager.default.createFile(atPath: path, contents: Data(valid), attributes: [.posixPermissions: 0o644]))
        #expect(ConfigurationLoader.load(Array(path.utf8)).problem == nil)
        var tally = Tally("damage: each byte and bit of signet.conf changed, cut, added")
        func check(_ bytes: [UInt8], _ what: String) throws {
            try overwrite(path, bytes)
            let loaded = ConfigurationLoader.load(Array(path.utf8))
            tally.check(Self.isBounded(loaded.configuration), "\(what): \(loaded.configuration)")
            tally.check(loaded.problem == nil || Self.isClosed(loaded.configuration), "\(what) is half used")
        }
        let masks: [UInt8] = Proof.isWhole ? [0xFF] + (0..<8).map { 1 << $0 } : [0xFF, 1, 0x10]
        for index in valid.indices {
            for mask in masks {
                var changed = valid
                changed[index] ^= mask
                try check(changed, "byte \(index) ^ \(mask)")
            }
            try check(Array(valid[..<index]), "length \(index)")
            var longer = valid
            longer.insert(UInt8(truncatingIfNeeded: index), at: index)
            try check(longer, "a byte more at \(index)")
        }
        tally.report()
    }

    /// Within the bounds that no file may leave (NIST SP 800-63B-4 §3.2.3 and §3.2.10).
    private static func isBounded(_ found: Configuration) -> Bool {
        (1...3).contains(found.fingerTries) && (1...5).contains(found.fingerLimit) && (5...10).contains(found.pinLimit)
            && (5...60).contains(found.fingerTimeout) && (1...15).contains(found.readerTimeout)
            && (4...64).contains(found.pinMinimumLength)
            && (found.pinMinimumLength...64).contains(found.pinMaximumLength)
            && (1...72).contains(found.pinFreshHours) && (3...8).contains(found.argon2Passes)
            && (64...512).contains(found.argon2MemoryMiB)
    }

    private static func isClosed(_ found: Configuration) -> Bool {
        !found.finger && found.pinLimit == 5 && found.fingerLimit == 1 && found.pinFreshHours == 1
    }
}
