import Foundation
import SignetRecords
import SoftwareTPM
import Testing

extension EnclaveTests {
    /// How the helper starts, ends, and what it leaves behind.
    @Suite struct ProcessTests {
        /// Catches a name that reaches a TPM, a library or a program which nobody meant.
        @Test(
            arguments: [
                "", "device", "device:", "device:/dev/../tmp/x", "device:/tmp/tpm", "device:dev/tpm0",
                "device:/dev//tpm0",
                "device:/dev/", "device:/dev/tpm0,x", "swtpm", "swtpm:", "swtpm:path=", "swtpm:path=s",
                "swtpm:path=/a/../b", "swtpm:path=/a,port=1", "swtpm:host=localhost,port=2321", "swtpm:/run/s",
                "mssim", "mssim:host=127.0.0.1", "tabrmd:", "cmd:/bin/true", "pcap:swtpm:path=/a",
                "libtss2-tcti-swtpm.so:path=/a", "device:/dev/tpm0\u{1}",
                "device:" + String(repeating: "/dev", count: 80),
            ])
        func otherInterfacesAreRefused(name: String) throws {
            let helper = try Helper(["--tcti", name])
            #expect(helper.end(within: 5) == 2)
        }

        /// Catches arguments that are not looked at.
        @Test(arguments: [[], ["--tcti"], ["device:/dev/tpm0"], ["--tcti", "device:/dev/tpm0", "--x"]] as [[String]])
        func otherArgumentsAreRefused(words: [String]) throws {
            #expect(try Helper(words).end(within: 5) == 2)
        }

        /// Catches a missing TPM that is told as anything else, or a helper that hangs at one.
        @Test(arguments: [
            "device:/dev/tpm-that-is-not", "device:/dev/null", "device:/dev/full", "swtpm:path=/run/absent",
        ])
        func noTPM(name: String) throws {
            let helper = try Helper(["--tcti", name])
            #expect(try helper.ask(.look) == .failed(.noDevice))
            #expect(try helper.ask(.open(primaryName: [])) == .failed(.noDevice))
            #expect(try helper.ask(.close) == .done)
            #expect(helper.end(within: 2) == 0)
        }

        /// Catches a TPM that goes while it is used, and is told as a wrong PIN or a foreign object.
        @Test func aTPMThatGoes() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            try helper.open()
            let object = try helper.seal(secret(1), under: secret(2), countsFailures: true)
            #expect(try helper.ask(.load(object)) == .done)
            tpm.cutPower()
            #expect(try helper.attempt(secret(2)) == .failed(.noDevice))
            #expect(try helper.ask(.look) == .failed(.noDevice))
        }

        /// Catches a helper that waits without end for a TPM that does not answer.
        @Test func aFrozenTPM() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            try helper.open()
            tpm.freeze()
            defer { tpm.thaw() }
            let start = Date()
            try helper.send(.seal(secret: 0..<32), secret(1))
            // Its own alarm, ten seconds: nobody else ends it here.
            #expect(helper.end(within: 12) == -SIGALRM)
            #expect(Date().timeIntervalSince(start) > 9)
        }

        /// Catches a helper that cannot be ended from outside while it waits for the TPM.
        @Test func aFrozenTPMAndAParentThatKills() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            tpm.freeze()
            defer { tpm.thaw() }
            try helper.send(.open(primaryName: []))
            #expect(helper.end(within: 0.2) == nil)
            helper.kill()
            #expect(helper.end(within: 2) == -SIGKILL)
        }

        /// Catches a message out of order, or bytes that are no message, which the helper survives.
        @Test func nonsenseEndsIt() throws {
            let tpm = try SoftwareTPM()
            var packets: [[UInt8]] = [[0], [1, 1], [1, 99, 0, 0, 0, 0], [UInt8](repeating: 1, count: 4096)]
            // Before the enclave is opened.
            packets.append([1, 11, 7, 0, 0, 0, 7, 4, 0, 0, 0x53, 0x80, 1])
            packets.append([1, 68, 35, 0, 0, 0, 2, 32, 0] + secret(1))
            for packet in packets {
                let helper = try Helper(tpm)
                helper.send(packet)
                #expect(throws: HelperEnded.self, "\(packet.prefix(8))") { try helper.receive() }
                #expect(helper.end(within: 2) == 0)
            }
            let helper = try Helper(tpm)
            try helper.open()
            try helper.send(.unsealUnder(authorization: 0..<32), secret(1))
            #expect(throws: HelperEnded.self) { try helper.receive() }
            let second = try Helper(tpm)
            try second.open()
            try second.send(.open(primaryName: []))
            #expect(throws: HelperEnded.self) { try second.receive() }
        }

        /// Catches an object or a session that stays in the TPM when the helper ends.
        ///
        /// Three fill it. Each ends in another way; the pauses before a full TPM is cleared would show as seconds.
        @Test func nothingStaysInTheTPM() throws {
            let tpm = try SoftwareTPM()
            let first = try Helper(tpm)
            try first.open()
            let object = try first.seal(secret(1), under: secret(2), countsFailures: false)
            first.hangUp()
            #expect(first.end(within: 2) == 0)
            let start = Date()
            for round in 0..<200 {
                let helper = try Helper(tpm)
                try helper.open()
                #expect(try helper.ask(.load(object)) == .done)
                switch round % 4 {
                case 0: helper.hangUp()
                case 1: #expect(try helper.ask(.close) == .done)
                case 2: kill(helper.pid, SIGTERM)
                default: helper.send([1])
                }
                #expect(helper.end(within: 2) == 0)
            }
            #expect(Date().timeIntervalSince(start) < 200 * 0.3)
        }

        /// Catches helpers that were killed and fill the TPM for good.
        @Test func killedHelpersLeaveRoom() throws {
            let tpm = try SoftwareTPM()
            let first = try Helper(tpm)
            let name = try first.open()
            let object = try first.seal(secret(1), under: secret(2), countsFailures: false)
            first.kill()
            for _ in 0..<12 {
                let helper = try Helper(tpm)
                #expect(try helper.ask(.open(primaryName: name)) == .opened(primaryName: name))
                #expect(try helper.ask(.load(object)) == .done)
                #expect(try helper.unseal(.unsealUnder(authorization: 0..<32), secret(2)) == secret(1))
                helper.kill()
                #expect(helper.end(within: 2) == -SIGKILL)
            }
        }

        /// Catches helpers that spoil each other's work on one TPM.
        @Test func twoAtOnce() throws {
            let tpm = try SoftwareTPM()
            let one = try Helper(tpm)
            let two = try Helper(tpm)
            let name = try one.open()
            try two.open(name)
            let master = try one.seal(secret(1))
            let first = try one.seal(secret(2), under: secret(3), countsFailures: false)
            let second = try two.seal(secret(4), under: secret(5), countsFailures: false)
            #expect(try two.ask(.load(second)) == .done)
            #expect(try one.ask(.load(first)) == .done)
            #expect(try one.attempt(secret(5)) == .wrong(counted: false))
            #expect(try two.unseal(.unsealUnder(authorization: 0..<32), secret(5)) == secret(4))
            #expect(try one.unseal(.unsealUnder(authorization: 0..<32), secret(3)) == secret(2))
            #expect(try two.unseal(.unseal(master)) == secret(1))
        }
    }
}
