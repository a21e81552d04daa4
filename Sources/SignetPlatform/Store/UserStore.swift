internal import CPlatform
package import SignetEngine
package import SignetPolicy
package import SignetRecords
package import SignetSecrets

/// The records of one user in a store on the disk.
///
/// Two of them for one user exclude each other, in one process as well: see `FileLock`.
package struct UserStore: RecordStore, ~Copyable {
    /// Where the store lies unless a test says otherwise.
    package static var standardRoot: [UInt8] { Array("/var/lib/signet".utf8) }

    let users: SecureFolder
    let sealer: RecordSealer
    package private(set) var uid: UInt32
    private(set) var userName: [UInt8]
    /// The store's folder and the state in which its key files were read; nil: they are not looked at again.
    let root: SecureFolder
    let stamp: StoreStamp?
    let timing: LockTiming
    private var records: FileLock?
    /// Where the processes of one person who asks for other people's accounts wait for each other; nil: they need not.
    package var lane: CallerLane?
    private var heldLane: FileLock?
    /// The user's folder, in which the lock lies.
    ///
    /// Both stay open from one hold to the next, for opening them is a good part of what a hold costs.
    private(set) var folder: SecureFolder?
    /// Whether the lock is held.
    private(set) var isHeld = false
    private var known = Known()
    /// The identity as it was opened last, and the sealed file that it was opened from: the very same bytes, read anew, say the
    /// same again.
    private var opened: (file: [UInt8], identity: IdentityRecord, digest: Digest)?
    /// Both slots as they were authenticated last.
    private var authenticated: AttemptsFile.Seen?
    /// The slot that this store wrote and synced last: whose counters, and its number.
    private var synced: (instance: [UInt8], sequence: UInt64)?
    /// Where the prints are kept instead of here; they are only read then.
    package var elsewhere: FprintdStore?

    /// What was read while the lock is held, and goes with it: nobody else writes meanwhile.
    private struct Known {
        var identity: IdentityRecord?
        /// Both slots of the counters.
        var counters: AttemptsFile.Seen?
    }

    /// How often the user's folder may be removed before its lock is given up.
    private static let lockTries = 16

    /// Whether one copy of the counters was torn when they were loaded last; one failure was then added to each.
    package private(set) var attemptsWereTorn = false

    /// Opens the store at `root` for one user; `masterKey` has 32 bytes and is needed only during the call.
    ///
    /// `fault(.store, .missing)`: no store was ever made. Nothing of the user's need be there.
    package init(
        root: [UInt8], uid: UInt32, userName: [UInt8], masterKey: borrowing SecretBytes,
        timing: LockTiming = LockTiming()
    ) throws(StoreError) {
        guard let sealer = RecordSealer(masterKey: masterKey) else { throw .system(errno: ENOMEM) }
        let folder = try inStore { () throws(FileFault) in try SecureFolder(path: root) }
        try self.init(folder, uid: uid, userName: userName, sealer: sealer, stamp: nil, timing: timing)
    }

    /// The same for a store that may be on its way from one master key to another.
    package init(
        root: [UInt8], uid: UInt32, userName: [UInt8], keys: borrowing StoreKeys, timing: LockTiming = LockTiming()
    ) throws(StoreError) {
        let folder = try inStore { () throws(FileFault) in try SecureFolder(path: root) }
        try self.init(in: folder, uid: uid, userName: userName, keys: keys, timing: timing)
    }

    /// The same with the store's folder at hand.
    init(
        in folder: consuming SecureFolder, uid: UInt32, userName: [UInt8], keys: borrowing StoreKeys,
        timing: LockTiming = LockTiming()
    ) throws(StoreError) {
        guard let sealer = RecordSealer(keys) else { throw .system(errno: ENOMEM) }
        try self.init(folder, uid: uid, userName: userName, sealer: sealer, stamp: keys.stamp, timing: timing)
    }

    private init(
        _ folder: consuming SecureFolder, uid: UInt32, userName: [UInt8], sealer: consuming RecordSealer,
        stamp: StoreStamp?, timing: LockTiming
    ) throws(StoreError) {
        do throws(FileFault) { users = try folder.folder(.users) } catch { throw StoreError(.store, error) }
        self.root = folder
        self.stamp = stamp
        self.sealer = sealer
        self.uid = uid
        self.userName = userName
        self.timing = timing
    }

    /// The secrets that belong to the whole store.
    borrowing func values() throws(StoreError) -> StoreValues { try StoreValues(in: root, sealer) }

    /// The uids of all users who have a folder in the store, in ascending order.
    package static func users(root: [UInt8]) throws(StoreError) -> [UInt32] {
        do throws(FileFault) {
            return try SecureFolder(path: root).folder(.users).numbers().sorted()
        } catch {
            throw StoreError(.store, error)
        }
    }

    /// Goes on with another user of the same store, whose keys need not be read again; the lock is given back.
    package mutating func turn(to uid: UInt32, userName: [UInt8]) {
        unlock()
        closeFolder()
        self.uid = uid
        self.userName = userName
        opened = nil
        authenticated = nil
        synced = nil
        attemptsWereTorn = false
        elsewhere = elsewhere?.turned(to: userName)
    }

    package mutating func lock() throws(StoreError) {
        guard !isHeld else { return }
        // First: a wait in the lane keeps nobody but its own person waiting.
        if let lane { heldLane = try lane.take() }
        do throws(StoreError) { try lockRecords() } catch {
            unlock()
            throw error
        }
    }

    private mutating func lockRecords() throws(StoreError) {
        var triesLeft = UserStore.lockTries
        while !isHeld {
            do throws(StoreError) {
                isHeld = try lockInFolder()
                known = Known()
            } catch {
                // The folder was removed between its opening and the lock file's: once more, with a new one. Where the
                // whole store was removed under us none can be made any more.
                guard error == .fault(.store, .missing) else { throw error }
            }
            if isHeld { break }
            closeFolder()
            triesLeft -= 1
            guard triesLeft > 0 else { throw .fault(.store, .missing) }
        }
        // Whoever opened the store before a migration must not go on under the old key.
        guard let stamp, (try? StoreStamp(root)) != stamp else { return }
        throw .busy
    }

    /// Locks the user's folder; false where another has come in its place, or none.
    private mutating func lockInFolder() throws(StoreError) -> Bool {
        var folder = self.folder.take()
        let isLocked: Bool
        if let opened = folder.take() {
            isLocked = try records?.takeAgain(.lock, in: opened) ?? false
            folder = consume opened
        } else {
            let opened = try openFolder(creating: true)
            records = try FileLock(.lock, in: opened, owner: uid, timing: timing)
            isLocked = true
            folder = consume opened
        }
        self.folder = folder.take()
        guard isLocked else { return false }
        // A removal that was cut off moved the folder away while we waited for the lock in it.
        return try inStore { () throws(FileFault) in
            switch self.folder {
            case .some(let folder): try users.holds(FileName(number: uid), folder)
            case .none: false
            }
        }
    }

    private mutating func closeFolder() {
        folder = nil
        records = nil
    }

    package mutating func unlock() {
        known = Known()
        isHeld = false
        records?.release()
        // It was removed.
        if folder == nil { records = nil }
        heldLane = nil
    }

    /// Whether there is an identity, without a look at it.
    borrowing func hasIdentityFile() -> Bool {
        (try? users.folder(FileName(number: uid)).exists(.identity)) ?? false
    }

    /// Under the lock the file is read once: a change by this store is seen, and nobody else may make one.
    package mutating func loadIdentity() throws(StoreError) -> IdentityRecord? {
        if let identity = known.identity { return identity }
        guard let file = try file(.identity, limit: IdentityRecord.byteLimit) else { return nil }
        let isKnown = opened.map { areSame($0.file, file) } ?? false
        if !isKnown {
            let content = try open(file, .identity, userName: userName)
            let identity = try decodeIdentity(content, userName: userName)
            opened = (file, identity, try identity.digest())
        }
        let identity = opened?.identity
        if isHeld { known.identity = identity }
        return identity
    }

    /// What the counters know this identity by.
    private borrowing func mark(of identity: IdentityRecord) throws(StoreError) -> Digest {
        if let opened, opened.identity == identity { return opened.digest }
        return try identity.digest()
    }

    package mutating func loadPrints() throws(StoreError) -> EnrollmentSet {
        if let elsewhere { return try elsewhere.enrollmentSet() }
        return try loadPrints(userName: userName)
    }

    /// The lock must be held: else the identity could be replaced between the two readings.
    package mutating func loadAttempts() throws(StoreError) -> Attempts {
        guard let identity = try loadIdentity() else { throw .fault(.attempts, .missing) }
        let before = authenticated
        let seen = try inFolder { (folder, sealer) throws(StoreError) in
            try folder.readAttempts(uid: uid, instance: identity.instance, knowing: before, sealer: sealer)
        }
        authenticated = seen
        let reading = seen.reading
        // Else an older identity, with an older PIN, could be put back from a copy. Prints need no such look: the
        // approval in the identity covers their digest and generation, and the counters hold the generation too.
        guard reading.identities.contains(try mark(of: identity)) else { throw .fault(.identity, .rolledBack) }
        if isHeld { known.counters = seen }
        attemptsWereTorn = reading.torn
        return reading.attempts
    }

    package mutating func create(_ identity: IdentityRecord) throws(StoreError) {
        // A removal that was cut off. What of it does not go, doctor tells: it is nothing that a new record depends on.
        _ = try? empty(FileName(number: uid).outgoing)
        let digest = try identity.digest()
        if let present = try? loadIdentity(), present.instance != identity.instance, (try? loadAttempts()) != nil {
            // One slot for each of the two, so that at each moment the identity that stands has counters.
            known = Known()
            try write(
                Attempts(), over: nil, of: present.instance, becoming: identity.instance,
                beside: try present.digest(), admitting: [digest])
            try write(identity)
            try write(Attempts(), over: nil, of: identity.instance, beside: digest, admitting: [digest])
        } else {
            // The counters come first: without an identity they mean nothing, and an identity without them could not be
            // used.
            known = Known()
            try openFolder(creating: true).createAttempts(
                Attempts(), uid: uid, instance: identity.instance, identities: [digest], sealer: sealer)
            try write(identity)
        }
        attemptsWereTorn = false
    }

    package mutating func save(_ identity: IdentityRecord) throws(StoreError) {
        guard let present = try loadIdentity() else { throw .fault(.identity, .missing) }
        try replace(present, by: identity)
    }

    /// Puts one identity of a user in another's place, so that at each moment the counters know the one that stands.
    ///
    /// First the counters admit both, then the identity is replaced, then each of the two slots admits the new one
    /// alone: else whoever spoils the newer slot would have the older one admit the identity that was replaced.
    private mutating func replace(_ present: IdentityRecord, by next: IdentityRecord) throws(StoreError) {
        guard next.uid == uid, next.instance == present.instance else { throw .system(errno: EINVAL) }
        let (old, new) = (try present.digest(), try next.digest())
        // A write that fails may have come through all the same: what is there then, the next reading tells.
        known = Known()
        try write(nil, over: nil, of: next.instance, beside: old, admitting: [old, new])
        try write(next)
        for _ in 0..<2 { try write(nil, over: nil, of: next.instance, beside: new, admitting: [new]) }
    }

    private borrowing func write(_ identity: IdentityRecord) throws(StoreError) {
        guard identity.uid == uid, identity.userName == userName, let content = try? identity.encoded() else {
            throw .system(errno: EINVAL)
        }
        try save(.identity, content.span)
    }

    /// As `SecureFolder.writeAttempts`.
    private mutating func write(
        _ attempts: Attempts?, over counters: AttemptsFile.Seen?, of instance: [UInt8],
        becoming next: [UInt8]? = nil, beside identity: Digest, admitting identities: [Digest],
        durable: AttemptsFile.Durability = .now
    ) throws(StoreError) {
        let before = synced?.instance == instance ? synced?.sequence : nil
        synced = nil
        let seen = try inFolder { (folder, sealer) throws(StoreError) in
            try folder.writeAttempts(
                attempts, over: counters, uid: uid, instance: instance, becoming: next, beside: identity,
                admitting: identities, durable: durable, synced: before, sealer: sealer)
        }
        // What one slot says of the next instance, and the other one of the one before, is read anew.
        authenticated = next == nil ? seen : nil
        if durable == .now { synced = (next ?? instance, seen.reading.sequence) }
    }

    package mutating func save(_ prints: borrowing EnrollmentSet) throws(StoreError) {
        guard elsewhere == nil else { throw .system(errno: EROFS) }
        let record = PrintsRecord(generation: prints.generation, entries: prints.entries)
        guard let count = try? record.encodedCount() else { throw .system(errno: EINVAL) }
        guard var content = SecretBytes(count: count) else { throw .system(errno: ENOMEM) }
        let fits = prints.templates.withBytes { templates in
            content.withMutableBytes { target in (try? record.encode(templates: templates, into: &target)) != nil }
        }
        guard fits else { throw .system(errno: EINVAL) }
        try content.withBytes { (bytes) throws(StoreError) in try save(.prints, bytes) }
    }

    package mutating func save(_ attempts: Attempts) throws(StoreError) { try save(attempts, durable: .now) }

    package mutating func saveSoon(_ attempts: Attempts) throws(StoreError) { try save(attempts, durable: .soon) }

    private mutating func save(_ attempts: Attempts, durable: AttemptsFile.Durability) throws(StoreError) {
        guard let identity = try loadIdentity() else { throw .fault(.attempts, .missing) }
        let digest = try mark(of: identity)
        // As above; and a second write in one hold goes over the other slot.
        let counters = known.counters.take()
        try write(
            attempts, over: counters, of: identity.instance, beside: digest, admitting: [digest], durable: durable)
    }

    package mutating func remove() throws(StoreError) {
        known = Known()
        folder = nil
        let name = FileName(number: uid)
        do throws(FileFault) {
            // Half of it gone, and the rest for ever in the way of a new one, is what would be left.
            for name in [name, name.outgoing] where try isFrozen(name) { throw FileFault.system(errno: EPERM) }
            // What an earlier removal left has the name that this one needs.
            guard try empty(name.outgoing) else { throw FileFault.system(errno: EPERM) }
            // In one step: whoever finds the folder finds all of it.
            try users.rename(name, to: name.outgoing)
            try users.sync()
            try empty(name.outgoing)
        } catch {
            throw error == .system(errno: EPERM) ? .fault(.identity, .stuck) : StoreError(.store, error)
        }
    }

    /// Gives records that are of the same uid but another name the present name; an administrator's decision.
    ///
    /// The approvals cover the name, so that the finger path stays closed until the user activates it again.
    package mutating func adopt() throws(StoreError) {
        let source = elsewhere.take()
        defer { elsewhere = source }
        if let name = try recordedName(.identity, limit: IdentityRecord.byteLimit),
            let content = try load(.identity, limit: IdentityRecord.byteLimit, userName: name)
        {
            let present = try decodeIdentity(content, userName: name)
            var identity = present
            identity.userName = userName
            // The prints first, for as long as the identity has the old name the records are closed as a whole.
            if let name = try recordedName(.prints, limit: PrintsRecord.byteLimit) {
                let prints = try loadPrints(userName: name)
                try save(prints)
            }
            try replace(present, by: identity)
        }
    }
}
