internal import CConfinement
internal import CFprint
internal import CPlatform
import SignetHelper
import SignetPolicy
import SignetRecords

/// One life of the helper: requests are taken in order, one reader is opened at most once.
final class Session {
    let channel = Channel()
    private let allowsVirtual: Bool
    private let user: HelperUser
    private let readers: ReaderList

    /// What `begin` named.
    private var wanted: (identity: ReaderIdentity, path: [UInt8])?
    /// The prints in the order in which they came; nil where one cannot be used with the reader.
    private(set) var gallery: [Print?] = []
    /// The opened reader.
    private(set) var reader: Reader?
    /// The operation that runs or ran last, with its ending not yet looked at.
    var current: Operation?
    /// The try that is going on.
    var touch = TouchState()
    /// When the reader compared a finger last, in microseconds of the monotonic clock.
    var comparedAt: Int64 = 0

    /// Ten minutes outlast a person at a prompt.
    private static let idleSeconds: UInt32 = 600
    /// Longer than Signet waits for one touch.
    static let workSeconds: UInt32 = 120

    /// Looks for readers at once: the first request may come only when a person has read a prompt.
    init(allowsVirtual: Bool, user: HelperUser) {
        self.allowsVirtual = allowsVirtual
        self.user = user
        alarm(Session.workSeconds)
        readers = ReaderList()
        guard signet_prepare_filter() == 0 else { _exit(1) }
    }

    /// Serves requests until the socket closes.
    func run() -> Never {
        while true {
            // The alarm ends a helper whose parent was stopped or forgot it.
            alarm(Session.idleSeconds)
            iterate { channel.isReadable || channel.isHungUp }
            // Nobody waits any more for what was asked before.
            guard !channel.isHungUp, let request = receive() else { leave() }
            alarm(Session.workSeconds)
            serve(request)
        }
    }

    /// Takes one request; a print goes into the gallery while its packet is there.
    func receive() -> SensorRequest? {
        channel.receive { request, packet in
            if case .galleryPrint(let template) = request {
                demand(wanted != nil && reader == nil && gallery.count < SensorMessage.galleryLimit)
                gallery.append(Print(template: packet.extracting(template)))
            }
            return request
        }
    }

    private func serve(_ request: SensorRequest) {
        switch request {
        case .list: list()
        case .begin(let identity, let path):
            demand(wanted == nil)
            wanted = (identity, path)
        case .galleryPrint: break
        case .open: open()
        case .arm: arm(opened())
        // The ending that it was meant for has crossed it on the way.
        case .cancel: break
        case .enroll(let finger, let userName, let day): enroll(finger, userName, day: day, on: opened())
        case .delete(let index): delete(index, from: opened())
        case .close: close()
        }
    }

    /// Ends the process when the other side does not keep to the order of requests.
    func demand(_ condition: Bool) {
        if !condition { _exit(1) }
    }

    private func opened() -> Reader {
        guard let reader else { _exit(1) }
        return reader
    }

    private func list() {
        let readers = readers.present
        let shown = readers.filter { allowsVirtual || !$0.identity.isVirtual }
        for reader in shown { channel.send(.reader(reader.description)) }
        channel.send(.listed(count: shown.count, virtualRefused: shown.count < readers.count))
    }

    /// Waits until `operation` has ended; ends it and leaves where the other side hangs up or asks to close meanwhile.
    private func wait(for operation: Operation) {
        current = operation
        iterate { operation.isDone || channel.isReadable || channel.isHungUp }
        if operation.isDone {
            current = nil
            return
        }
        guard !channel.isHungUp, let request = receive() else { leave() }
        demand(request == .close)
        close()
    }

    private func open() {
        demand(reader == nil)
        guard let wanted else { _exit(1) }
        guard allowsVirtual || !wanted.identity.isVirtual else {
            channel.send(.failed(.virtualRefused))
            return
        }
        // From here on there is a reader to be closed, also where it has not opened yet.
        channel.endsWhenHungUp = false
        let candidates = readers.present.filter { reader in
            reader.identity == wanted.identity && (wanted.path.isEmpty || reader.place.path == wanted.path)
        }
        guard let found = connectAny(candidates) else { return }
        for (index, print) in gallery.enumerated() where print?.fits(found) != true { gallery[index] = nil }
        let presence: [PrintPresence]
        let others: [Digest]
        switch look(into: found) {
        case .success(let looked): (presence, others) = looked
        case .failure(let failure):
            channel.send(.failed(failure.outcome.problem))
            return
        }
        guard signet_confine_reader(user.user, user.group) == 0,
            signet_filter_reader_calls() == 0
        else { _exit(1) }
        watchFinger(of: found)
        // Now that no try is charged and no cancel has to be heard. A process that is as young as this one has not run what
        // will look at the finger, and each page of it would be waited for in turn.
        signet_map_code()
        channel.send(.reader(found.description))
        channel.send(.opened(presence: presence, others: others))
    }

    /// Connects the first of these that opens; tells Signet why where none does.
    ///
    /// After a resume the same reader may be there twice, for the bus has found it anew: one of the two is dead.
    private func connectAny(_ candidates: [Reader]) -> Reader? {
        var problem = ReaderProblem.noReader
        for candidate in candidates {
            reader = candidate
            guard let why = connect(candidate) else { return candidate }
            reader = nil
            // That another program has it tells more than that its ghost is dead.
            // libfprint still lists what is not there any more.
            if problem != .busy { problem = why == .removed ? .ghost : why }
        }
        channel.send(.failed(problem))
        return nil
    }

    private func connect(_ reader: Reader) -> ReaderProblem? {
        let opening = Operation()
        reader.startOpening(opening)
        wait(for: opening)
        return reader.finishOpening(opening)?.problem
    }

    /// Where each print of the gallery is, and which others the reader lists.
    private func look(into reader: Reader) -> Result<([PrintPresence], [Digest]), ListingFailure> {
        guard reader.listsPrints else { return .success((presence(in: nil), [])) }
        var listed: [Print]
        switch prints(in: reader) {
        case .success(let prints): listed = prints
        case .failure(let failure): return .failure(failure)
        }
        // A reader that has just woken up may list less than it holds: a difference counts when it is there again
        // after closing and opening.
        let isMissing = gallery.contains { print in
            guard let print, print.isOnReader else { return false }
            return !listed.contains { $0.isSame(as: print) }
        }
        if isMissing {
            let closing = Operation()
            reader.startClosing(closing)
            wait(for: closing)
            if let problem = connect(reader) { return .failure(ListingFailure(outcome: .problem(problem))) }
            switch prints(in: reader) {
            case .success(let prints): listed = prints
            case .failure(let failure): return .failure(failure)
            }
        }
        let others = listed.filter { print in !gallery.contains { $0?.isSame(as: print) == true } }
        return .success((presence(in: listed), digests(of: others)))
    }

    /// Each once, in ascending order, and no more than a message holds.
    private func digests(of prints: [Print]) -> [Digest] {
        var digests: [Digest] = []
        let all = prints.compactMap { $0.handleDigest }.sorted()
        for digest in all where digests.last != digest {
            digests.append(digest)
        }
        return Array(digests.prefix(Approval.othersLimit))
    }

    private func prints(in reader: Reader) -> Result<[Print], ListingFailure> {
        let listing = Operation()
        reader.startListing(listing)
        wait(for: listing)
        return reader.finishListing(listing)
    }

    private func presence(in listed: [Print]?) -> [PrintPresence] {
        gallery.map { print in
            guard let print else { return .missing }
            guard print.isOnReader else { return .host }
            guard let listed else { return .unlistable }
            return listed.contains { $0.isSame(as: print) } ? .onReader : .missing
        }
    }

    private func close() -> Never {
        _ = disconnect()
        channel.send(.closed)
        _exit(0)
    }

    /// Closes the reader, says so where it is closed, and ends.
    ///
    /// Nothing is flushed or freed: exit handlers belong to foreign libraries.
    func leave() -> Never {
        // The last word: who hears it waits for nothing more of this process.
        if disconnect() { channel.send(.closed) }
        _exit(0)
    }

    /// Ends what runs and closes the reader, within the second that the other side waits; whether one was open and is closed.
    private func disconnect() -> Bool {
        if let current, !current.isDone {
            touch.isOver = true
            current.cancel()
            guard iterate(atMost: 500, until: { current.isDone }) else { return false }
        }
        guard let reader else { return false }
        let closing = Operation()
        reader.startClosing(closing)
        return iterate(atMost: 400) { closing.isDone }
    }
}

extension Outcome {
    /// The problem, for a call that nobody can retry or cancel.
    var problem: ReaderProblem {
        if case .problem(let problem) = self { return problem }
        return .faulty
    }
}
