import Foundation
import SignetPolicy
import SignetRecords
import SoftwareTPM
import Testing

extension EnclaveTests {
    /// Counters in the TPM's flash.
    @Suite struct CounterTests {
        private let key = secret(6)

        private func make(_ helper: Helper) throws -> EnclaveCounter {
            guard case .counter(let counter) = try helper.ask(.makeCounter(authorization: 0..<32), key) else {
                throw HelperEnded()
            }
            return counter
        }

        private func read(_ helper: Helper, _ index: UInt32, _ key: [UInt8]) throws -> EnclaveReply {
            try helper.ask(.readCounter(index: index, authorization: 0..<32), key)
        }

        private func bump(_ helper: Helper, _ index: UInt32, _ key: [UInt8]) throws -> EnclaveReply {
            try helper.ask(.bumpCounter(index: index, authorization: 0..<32), key)
        }

        /// Catches a counter that goes back, jumps, or is lost in a power cut, and one that is read or counted without its
        /// authorisation.
        @Test func countersRise() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            try helper.open()
            let first = try make(helper)
            #expect(first.index == EnclaveMessage.counterIndices.lowerBound)
            #expect(try read(helper, first.index, key) == .counter(first))
            let second = try make(helper)
            #expect(second.index == first.index + 1)
            for step in 1...3 as ClosedRange<UInt64> {
                let expected = EnclaveCounter(index: first.index, value: first.value + step)
                #expect(try bump(helper, first.index, key) == .counter(expected))
                #expect(try read(helper, first.index, key) == .counter(expected))
            }
            #expect(try read(helper, second.index, key) == .counter(second))
            #expect(try read(helper, first.index, secret(7)) == .wrong(counted: false))
            #expect(try bump(helper, first.index, secret(7)) == .wrong(counted: false))
            helper.kill()
            tpm.cutPower()
            try tpm.start()
            let again = try Helper(tpm)
            try again.open()
            #expect(
                try read(again, first.index, key)
                    == .counter(EnclaveCounter(index: first.index, value: first.value + 3)))
            #expect(try again.state().failures == 0)
        }

        /// Catches a deleted counter that comes back with a value that it had before: that would be a way to roll back.
        @Test func deletingRollsNothingBack() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            try helper.open()
            let first = try make(helper)
            for _ in 0..<5 { _ = try bump(helper, first.index, key) }
            #expect(try helper.ask(.removeCounter(index: first.index)) == .done)
            #expect(try helper.ask(.removeCounter(index: first.index)) == .done)
            #expect(try read(helper, first.index, key) == .failed(.noCounter))
            #expect(try bump(helper, first.index, key) == .failed(.noCounter))
            let next = try make(helper)
            #expect(next.index == first.index && next.value > first.value + 5)
        }

        /// Catches a full TPM that is told as a fault, or half a counter that stays behind.
        @Test func aFullTPMHasNoRoom() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            try helper.open()
            var made: [EnclaveCounter] = []
            var reply = EnclaveReply.done
            for _ in 0...EnclaveMessage.counterIndices.count {
                reply = try helper.ask(.makeCounter(authorization: 0..<32), key)
                guard case .counter(let counter) = reply else { break }
                made.append(counter)
            }
            #expect(reply == .failed(.noRoom))
            let last = try #require(made.last)
            #expect(Set(made.map(\.index)).count == made.count)
            #expect(try helper.ask(.removeCounter(index: made[1].index)) == .done)
            #expect(try make(helper).index == made[1].index)
            #expect(try read(helper, last.index, key) == .counter(last))
        }
    }
}
