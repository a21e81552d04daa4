import SignetPolicy
import SignetRecords
import Testing

@testable import SignetEngine

/// Taking prints off a chip: which reader is asked, what is believed of it, and what is said where a print stays.
@Suite struct ChipDeletionStories {
    private static let second = Print(finger: 2, reader: .chip, onReader: true, data: [4, 4, 4])
    private static let third = Print(finger: 3, reader: .chip, onReader: true, data: [5, 5, 5])
    private static let holder = Array("fprintd".utf8)

    private func machine(_ prints: [Print] = [.onChip, second, third]) throws -> Machine {
        let machine = Machine()
        machine.readers = [.of(.chip, keepsPrints: true)]
        try machine.setUp(prints: prints)
        return machine
    }

    private func delete(_ machine: Machine, _ number: UInt8, _ prepare: (Actor) -> Void = { _ in }) throws -> (
        FingersDeleted?, Actor
    ) {
        let finger = try #require(Finger(number: number))
        let actor = machine.process()
        prepare(actor)
        let outcome = actor.run([.right]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.delete(.finger(finger), on: &screen)
        }.outcome
        return (outcome, actor)
    }

    /// Leaves the prints of two fingers on the chip.
    private func leaveTwo(_ machine: Machine) throws {
        for number: UInt8 in [2, 3] {
            _ = try delete(machine, number) { $0.process.faults = [(.deleteFromReader, nil)] }
        }
        #expect(machine.disk.chips.index?.loose.count == 2)
    }

    /// Catches a reader that is asked for without its place, so that nobody can be named who has it; and a reason that is lost.
    @Test func whoHasTheReaderIsTold() throws {
        let machine = try machine()
        func busy(_ actor: Actor) {
            actor.sensor.notOpening = [(.chip, .busy)]
            actor.sensor.holder = Self.holder
        }
        let busyLeft = { PrintsLeft(reader: .chip, prints: $0, why: .problem(.busy, holder: Self.holder)) }
        let (deleted, actor) = try delete(machine, 2, busy)
        #expect(deleted?.left == [busyLeft(1)] && deleted?.remaining == 2)
        #expect(actor.sensor.places == [.builtIn])
        _ = try delete(machine, 3, busy)
        let (leftovers, other) = machine.deleteLeftovers(busy)
        #expect(leftovers?.left == [busyLeft(2)] && other.sensor.places == [.builtIn])
        #expect(machine.deleteLeftovers().0?.deleted == 2)
    }

    /// Catches all but the last reason, which the person would mend in vain.
    @Test func eachReasonIsTold() throws {
        let machine = try machine()
        try leaveTwo(machine)
        let (outcome, _) = machine.deleteLeftovers { actor in
            actor.process.faults = [(.deleteFromReader, nil)]
            actor.process.readerProblem = .timedOut
            actor.process.onCall = { call in
                if call == .deleteFromReader, actor.process.count(.deleteFromReader) == 2 {
                    actor.process.readerProblem = .removed
                }
            }
        }
        #expect(
            outcome?.left == [
                PrintsLeft(reader: .chip, prints: 1, why: .problem(.timedOut, holder: nil)),
                PrintsLeft(reader: .chip, prints: 1, why: .problem(.removed, holder: nil)),
            ])
    }

    /// Catches an unplugged reader that is told as a program that failed, of all prints but the first.
    @Test func whatFollowsFromAReasonIsNoReason() throws {
        let machine = try machine()
        try leaveTwo(machine)
        let (outcome, _) = machine.deleteLeftovers { actor in
            actor.process.faults = [(.deleteFromReader, nil)]
            actor.process.readerProblem = .removed
            actor.process.onCall = { call in
                if call == .deleteFromReader, actor.process.count(.deleteFromReader) == 2 {
                    actor.process.readerProblem = .helperFailed
                }
            }
        }
        #expect(outcome?.left == [PrintsLeft(reader: .chip, prints: 2, why: .problem(.removed, holder: nil))])
    }

    /// Catches a print that counts as gone because another reader of the same name does not have it, or none was there.
    @Test func anotherReaderKnowsNothingOfIt() throws {
        let machine = try machine()
        try leaveTwo(machine)
        // What is plugged in outside says that it is the reader, and has nothing.
        machine.readers = [.of(.chip, at: .socket, keepsPrints: true)]
        let (outside, asked) = machine.deleteLeftovers { $0.sensor.presence = [0: .missing, 1: .missing] }
        #expect(outside?.gone == 0 && asked.process.count(.open) == 0)
        #expect(outside?.left == [PrintsLeft(reader: .chip, prints: 2, why: .notTrusted(.outside))])
        machine.readers = []
        #expect(machine.deleteLeftovers().0?.left.map(\.why) == [.problem(.noReader, holder: nil)])
        #expect(machine.disk.chips.index?.loose.count == 2)
        // Two at ports that are trusted: the first has none, the second has one of them.
        machine.readers = [.of(.chip, at: .desktop, keepsPrints: true), .of(.chip, keepsPrints: true)]
        let (both, actor) = machine.deleteLeftovers { actor in
            actor.sensor.presence = [0: .missing, 1: .missing]
            actor.process.onCall = { call in
                if call == .open, actor.process.count(.open) == 2 { actor.sensor.presence = [0: .missing] }
            }
        }
        #expect(actor.sensor.places == [.desktop, .builtIn] && actor.sensor.deleted == [1])
        #expect(both?.deleted == 1 && both?.gone == 1 && both?.left == [])
        #expect(machine.disk.chips.index?.loose.isEmpty == true)
    }

    /// Catches a deletion that asks a second reader of the same name, which knows nothing of the print, and forgets it.
    @Test func theApprovedReaderIsAsked() throws {
        let machine = try machine()
        machine.readers = [.of(.chip, at: .desktop, keepsPrints: true), .of(.chip, keepsPrints: true)]
        let (deleted, actor) = try delete(machine, 2)
        #expect(deleted?.left == [] && actor.sensor.places == [.builtIn] && actor.sensor.deleted == [0])
        // Moved to another port inside it is the reader still; the configuration's refusal of chips lets it be cleared.
        machine.readers = [.of(.chip, at: .desktop, keepsPrints: true)]
        machine.configuration.matchOnChip = .refuse
        let (moved, other) = try delete(machine, 3)
        #expect(moved?.left == [] && other.sensor.places == [.desktop] && other.sensor.deleted == [0])
    }
}
