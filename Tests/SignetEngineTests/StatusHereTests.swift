import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

/// What `status` says of a finger that counts and would not be asked for where whoever asks is.
struct StatusHereTests {
    private func status(of machine: Machine, _ here: FingerSurroundings) -> UserStatus {
        var ledger = machine.process("status").ledger()
        return ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers), here: here)
    }

    // Would catch: a status that shows the finger as on, and no more, where every prompt of that session refuses it.
    @Test(arguments: [FingerClosure.remote, .anotherSeat])
    func `a session elsewhere is told beside what counts`(why: FingerClosure) throws {
        let machine = Machine()
        try machine.setUp()
        let elsewhere = status(of: machine, FingerSurroundings(closure: why))
        #expect(elsewhere.fingerClosure == nil && elsewhere.closureHere == why && elsewhere.readersToAsk.isEmpty)
        #expect(elsewhere.attention.isEmpty, "nothing is to be mended")
        let there = status(of: machine, FingerSurroundings())
        #expect(there.closureHere == nil && there.readersToAsk == machine.readers)
        // What closes it everywhere is the reason that helps.
        machine.time.reboot()
        let late = status(of: machine, FingerSurroundings(closure: why))
        #expect(late.fingerClosure == .pinRequiredAfterBoot && late.closureHere == nil && late.readersToAsk.isEmpty)
    }

    // Would catch: a lid that status judges by another rule than the prompt, for a reader inside, one beside the machine,
    // both, and both while only the covered one is there.
    @Test(arguments: [
        [ReaderIdentity.inside], [.outside], [.inside, .outside],
    ]) func `the lid covers what a prompt would not open`(readers: [ReaderIdentity]) throws {
        let machine = Machine()
        machine.configuration.readers = .any
        let all: [ReaderDescription] = [.of(.inside), .of(.outside, at: .socket)]
        machine.readers = all.filter { readers.contains($0.identity) }
        let prints = [Print.first, .elsewhere].filter { readers.contains($0.reader) }
        try machine.setUp(prints: prints)
        func agree() {
            let told = status(of: machine, FingerSurroundings(lidClosed: true))
            let actor = machine.process()
            let verdict = actor.authenticate([.enter, .right], touches: [.matched(index: 0)], lidClosed: true)
            let isAsked = Outcome(verdict) == .granted(.finger)
            #expect(isAsked == (told.closureHere == nil), "\(told.closureHere as Any)")
            #expect(isAsked || told.closureHere == .lidClosed)
            #expect(told.readersToAsk.map(\.identity) == actor.sensor.opened)
        }
        agree()
        guard readers.count > 1 else { return }
        machine.readers.removeLast()
        agree()
    }
}
