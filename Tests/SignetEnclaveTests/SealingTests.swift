import Foundation
import SignetPolicy
import SignetRecords
import SoftwareTPM
import Testing

/// A helper with its enclave opened.
private func opened(_ tpm: SoftwareTPM) throws -> Helper {
    let helper = try Helper(tpm)
    try helper.open()
    return helper
}

extension EnclaveTests {
    /// What is sealed, and who gets it back.
    @Suite struct SealingTests {
        /// Catches a secret that does not come back whole, in another process and after a power cut, and a primary key
        /// that is another each time.
        @Test func whatIsSealedComesBack() throws {
            let tpm = try SoftwareTPM()
            let first = try Helper(tpm)
            let name = try first.open()
            #expect(name.count == 34)
            let master = try first.seal(secret(1))
            #expect(master.publicArea.count == 48 && master.privateArea.count == 160)
            let pin = try first.seal(secret(2), under: secret(3), countsFailures: false)
            #expect(try first.ask(.close) == .done)
            #expect(first.end(within: 2) == 0)
            tpm.cutPower()
            try tpm.start()
            let second = try Helper(tpm)
            #expect(try second.open(name) == name)
            #expect(try second.unseal(.unseal(master)) == secret(1))
            #expect(try second.ask(.load(pin)) == .done)
            #expect(try second.unseal(.unsealUnder(authorization: 0..<32), secret(3)) == secret(2))
            // All that at once fits three places for objects.
            #expect(try second.unseal(.unseal(master)) == secret(1))
        }

        /// Catches an authorisation that is cut at its zeros, by us or by tss2, and then fits too many or none.
        @Test(arguments: [[0], [0, 31], [31], Array(16..<32), Array(0..<32)] as [[Int]])
        func zerosInAnAuthorization(places: [Int]) throws {
            let tpm = try SoftwareTPM()
            let helper = try opened(tpm)
            var pin = secret(9)
            for place in places { pin[place] = 0 }
            let object = try helper.seal(secret(2), under: pin, countsFailures: false)
            #expect(try helper.ask(.load(object)) == .done)
            #expect(try helper.unseal(.unsealUnder(authorization: 0..<32), pin) == secret(2))
            pin[5] ^= 1
            #expect(try helper.attempt(pin) == .wrong(counted: false))
        }

        /// Catches a helper that goes on with a primary that is not the expected one.
        @Test func anotherPrimaryIsForeign() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            var name = try Helper(tpm).open()
            name[33] ^= 1
            #expect(try helper.ask(.open(primaryName: name)) == .failed(.foreign))
            // And nothing can be asked of it: the request ends the helper.
            try helper.send(.seal(secret: 0..<32), secret(1))
            #expect(throws: HelperEnded.self) { try helper.receive() }
        }

        /// Catches a blob that another TPM takes, and one that this TPM takes after it was cleared.
        @Test func anotherTPMIsForeign() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            let name = try helper.open()
            let master = try helper.seal(secret(1))
            let pin = try helper.seal(secret(2), under: secret(3), countsFailures: true)
            let other = try SoftwareTPM()
            helper.hangUp()
            #expect(helper.end(within: 2) == 0)
            try tpm.replace()
            for foreign in [other, tpm] {
                #expect(try Helper(foreign).ask(.open(primaryName: name)) == .failed(.foreign))
                let helper = try opened(foreign)
                #expect(try helper.ask(.unseal(master)) == .failed(.foreign))
                #expect(try helper.ask(.load(pin)) == .failed(.foreign))
                #expect(try helper.state().failures == 0)
            }
        }

        /// Catches a bit of a blob that nobody checks.
        @Test func flippedBitsAreForeign() throws {
            let tpm = try SoftwareTPM()
            let helper = try opened(tpm)
            let master = try helper.seal(secret(1))
            func expectForeign(_ publicArea: [UInt8], _ privateArea: [UInt8], _ place: String) throws {
                guard
                    let object = EnclaveObject(
                        publicArea: publicArea, privateArea: privateArea, countsFailures: false)
                else { return }
                #expect(try helper.ask(.unseal(object)) == .failed(.foreign), "\(place)")
            }
            for place in Array(0..<4) + Array(stride(from: 4, to: master.publicArea.count, by: 4)) {
                var area = master.publicArea
                area[place] ^= UInt8(1 << (place / 4 % 8))
                try expectForeign(area, master.privateArea, "public \(place)")
            }
            for place in Array(0..<4) + Array(stride(from: 4, to: master.privateArea.count, by: 4)) {
                var area = master.privateArea
                area[place] ^= UInt8(1 << (place / 4 % 8))
                try expectForeign(master.publicArea, area, "private \(place)")
            }
            for cut in [1, 2, 40] {
                try expectForeign(Array(master.publicArea.dropLast(cut)), master.privateArea, "public -\(cut)")
                try expectForeign(master.publicArea, Array(master.privateArea.dropLast(cut)), "private -\(cut)")
            }
            try expectForeign(master.publicArea + [0], master.privateArea, "public +1")
            try expectForeign(master.publicArea, master.privateArea + [0], "private +1")
            #expect(try helper.unseal(.unseal(master)) == secret(1))
        }

        /// Catches an object that is unsealed as something else than it was sealed as, at the price of a counted failure.
        @Test func theAttributeIsPartOfTheObject() throws {
            let tpm = try SoftwareTPM()
            let helper = try opened(tpm)
            for counts in [true, false] {
                let object = try helper.seal(secret(2), under: secret(3), countsFailures: counts)
                let other = try #require(
                    EnclaveObject(
                        publicArea: object.publicArea, privateArea: object.privateArea, countsFailures: !counts))
                #expect(try helper.ask(.load(other)) == .failed(.foreign))
                #expect(try helper.ask(.unseal(counts ? object : other)) == .failed(.foreign))
            }
            #expect(try helper.state().failures == 0)
        }
    }
}
