import Foundation
import SignetRecords
import SoftwareTPM
import Testing

/// Whether `part` lies somewhere in `whole`.
private func contains(_ whole: [UInt8], _ part: [UInt8]) -> Bool {
    Data(whole).range(of: Data(part)) != nil
}

/// A proxy's changes, which count themselves.
private final class Changes: @unchecked Sendable {
    private let lock = NSLock()
    private var made = 0
    var count: Int { lock.withLock { made } }
    func add() { lock.withLock { made += 1 } }
}

extension EnclaveTests {
    /// What others get to see: on the wires, in files, in the process.
    @Suite struct ConfidentialityTests {
        /// Catches a secret or an authorisation that goes over the wires in clear, either way.
        @Test func nothingInClearOnTheBus() throws {
            let tpm = try SoftwareTPM()
            let proxy = try BusProxy(tpm)
            let helper = try Helper(["--tcti", proxy.interface])
            try helper.open()
            let master = try helper.seal(secret(1))
            let object = try helper.seal(secret(2), under: secret(3), countsFailures: true)
            #expect(try helper.unseal(.unseal(master)) == secret(1))
            #expect(try helper.ask(.load(object)) == .done)
            #expect(try helper.unseal(.unsealUnder(authorization: 0..<32), secret(3)) == secret(2))
            guard case .counter(let counter) = try helper.ask(.makeCounter(authorization: 0..<32), secret(4)) else {
                Issue.record("no counter")
                return
            }
            let bump = EnclaveRequest.bumpCounter(index: counter.index, authorization: 0..<32)
            #expect(try helper.ask(bump, secret(4)) != .done)
            let set = EnclaveRequest.setLockout(
                authorization: 0..<32, limit: 32, healSeconds: 1, recoverySeconds: 1)
            #expect(try helper.ask(set, secret(5)) == .done)
            #expect(try helper.ask(.resetLockout(authorization: 0..<32), secret(5)) == .done)
            let (commands, responses) = (proxy.toTPM, proxy.fromTPM)
            // The proxy saw what went by: public areas are in clear, both ways.
            #expect(contains(commands, master.publicArea) && contains(responses, master.publicArea))
            for seed: UInt8 in 1...5 {
                for start in [0, 8, 16, 24] {
                    let part = Array(secret(seed)[start..<(start + 8)])
                    #expect(!contains(commands, part) && !contains(responses, part), "secret \(seed)")
                }
            }
        }

        /// Where the two coordinates of a P-256 key lie in the answer to CreatePrimary, behind the curve, the absent
        /// derivation and the length of the first; nil in other answers.
        private static func key(in response: [UInt8]) -> Range<Int>? {
            guard let start = Data(response).range(of: Data([0, 3, 0, 0x10, 0, 32]))?.upperBound else { return nil }
            return response.count >= start + 66 ? start..<(start + 66) : nil
        }

        /// Catches a helper that encrypts to a key which somebody on the wires put in the primary's place, with the Name
        /// that is expected or with the key's own.
        @Test(arguments: [true, false]) func aKeyInThePrimarysPlace(nameStays: Bool) throws {
            let tpm = try SoftwareTPM()
            let name = try Helper(tpm).open()
            // A good key of somebody else's.
            let other = try SoftwareTPM()
            let watch = try BusProxy(other)
            let otherName = try Helper(["--tcti", watch.interface]).open()
            let recorded = watch.fromTPM
            let theirs = Array(recorded[try #require(Self.key(in: recorded))])
            let changes = Changes()
            let proxy = try BusProxy(tpm) { response in
                guard let place = Self.key(in: response) else { return response }
                var changed = response
                changed.replaceSubrange(place, with: theirs)
                if !nameStays, let place = Data(changed).range(of: Data(name)) {
                    changed.replaceSubrange(place.lowerBound..<place.upperBound, with: otherName)
                }
                changes.add()
                return changed
            }
            let helper = try Helper(["--tcti", proxy.interface])
            #expect(try helper.ask(.open(primaryName: name)) == .failed(nameStays ? .other : .foreign))
            #expect(changes.count == 1)
        }

        /// Catches an answer that was changed on its way and is believed.
        @Test func changedAnswersAreNotBelieved() throws {
            let tpm = try SoftwareTPM()
            let changes = Changes()
            let proxy = try BusProxy(tpm) { response in
                // An unsealed secret: tag with sessions, some 140 bytes.
                guard response.count > 90, response.count < 150, response[1] == 2, response[10...13] == [0, 0, 0, 34]
                else { return response }
                var changed = response
                changed[20] ^= 1
                changes.add()
                return changed
            }
            let helper = try Helper(["--tcti", proxy.interface])
            try helper.open()
            let master = try helper.seal(secret(1))
            #expect(try helper.unseal(.unseal(master)) == nil)
            #expect(changes.count == 1)
        }

        /// Catches variables of whoever starts the helper that reach tss2 or libcrypto: they would write secrets to a file.
        @Test func variablesHaveNoEffect() throws {
            let tpm = try SoftwareTPM()
            let log = tpm.folder + "/log"
            let configuration = tpm.folder + "/openssl.cnf"
            // A configuration that libcrypto would fail at, or leave a trace of.
            try "openssl_conf = x\n[x]\nengines = e\n[e]\nf = g\n[g]\ndynamic_path = /nonexistent\ninit = 1\n"
                .write(toFile: configuration, atomically: true, encoding: .utf8)
            let helper = try Helper(
                ["--tcti", tpm.interface],
                environment: [
                    "TSS2_LOG=all+trace", "TSS2_LOGFILE=" + log, "OPENSSL_CONF=" + configuration,
                    "TCTI_PCAP_FILE=" + log, "TPM2TOOLS_TCTI=mssim:", "TSS2_FAPICONF=" + configuration,
                ])
            try helper.open()
            let object = try helper.seal(secret(1), under: secret(2), countsFailures: false)
            #expect(try helper.ask(.load(object)) == .done)
            #expect(try helper.attempt(secret(3)) == .wrong(counted: false))
            #expect(try helper.unseal(.unsealUnder(authorization: 0..<32), secret(2)) == secret(1))
            #expect(!FileManager.default.fileExists(atPath: log))
        }

        /// Catches a helper that can be traced, dumped, swapped, or start programs.
        @Test func theProcessIsShut() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            try helper.open()
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: "/proc/\(helper.pid)/" + name, encoding: .utf8)
            }
            let status = try text("status").split(separator: "\n")
            #expect(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"))
            let limits = try text("limits")
            #expect(limits.contains("Max core file size        0                    0"))
            // Root of a container may not lift the limit; then only what holds a secret of ours is locked.
            let locked = status.first { $0.hasPrefix("VmLck:") }?.split(separator: " ").compactMap { Int($0) }.first
            let isLifted = limits.contains("Max locked memory         unlimited")
            #expect((locked ?? 0) >= (isLifted ? 1000 : 8))
            // Standard descriptors, the socket, the signals; the TPM's is open for the length of a command.
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(helper.pid)/fd").sorted()
            #expect(open.prefix(4) == ["0", "1", "2", "3"] && open.count <= 6)
        }
    }
}
