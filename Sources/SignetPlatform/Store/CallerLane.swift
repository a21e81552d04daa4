internal import CPlatform
internal import SignetEngine

/// The one lane in which a person's processes go who ask for other people's accounts.
///
/// Each account has a lock of its own, under which a key is derived in 64 MiB or more. Without a lane somebody who starts
/// `su` for each of a hundred accounts at once would have a hundred keys derived at once, and the machine would run out of
/// memory. A lane is a lock for each real user id: whoever waits in it, or stops what holds it, keeps nobody waiting but
/// himself, and so nobody is killed for it.
package struct CallerLane: Sendable {
    private let folder: [UInt8]
    private let name: FileName

    /// The lane of the user who has this real user id, in a folder that is root's alone and is made where it is not there.
    package init?(of user: UInt32 = getuid(), in folder: [UInt8] = SensorClient.standardClaims) {
        guard let name = FileName(Array("caller-\(user)".utf8)) else { return nil }
        self.folder = folder
        self.name = name
    }

    /// Waits until no other process has it; nil where there is no place for it, for then nobody is to be shut out.
    func take() throws(StoreError) -> FileLock? {
        var timing = LockTiming()
        timing.holdLimit = .max
        guard let folder = try? SecureFolder(path: folder, creating: true) else { return nil }
        do throws(StoreError) { return try FileLock(name, in: folder, timing: timing) } catch {
            guard error == .busy else { return nil }
            throw error
        }
    }
}
