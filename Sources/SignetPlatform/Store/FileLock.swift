internal import CPlatform
internal import CSodium
package import SignetEngine
internal import SignetPolicy

/// How long a lock may be held and waited for, in milliseconds.
package struct LockTiming: Equatable, Sendable {
    /// Who is seen to hold the lock longer than this may be killed, see `LockParties`; above the longest derivation that is
    /// configured.
    package var holdLimit: UInt64 = 15_000
    /// Who waits longer than this gives up.
    package var waitLimit: UInt64 = 60_000
    /// How long whoever holds a user's lock waits for the index's, twice in one hold at the most: `holdLimit` is not reached
    /// by that, so that nobody who waits for the user takes the holder for a stopped one and kills it.
    package var nestedWaitLimit: UInt64 = 3_000
    /// The time between two looks, at least; up to as much again is added by chance, so that waiters do not march in
    /// step.
    package var pollInterval: UInt64 = 4

    package init() {}
}

/// A write lock on a companion file, which lasts until the value goes away, or its process dies.
///
/// It is two locks. A record lock of fcntl(2) names its holder to F_GETLK, but belongs to the process: it does not keep
/// two threads of a program apart, and closing *any* descriptor of the file gives it up. A lock of flock(2) names nobody,
/// but belongs to the one opening of the file. So flock(2) excludes, and fcntl(2) tells whom to kill.
///
/// The holder is never trusted to let go: a user can stop his own `su alice` with SIGSTOP while it holds alice's lock. Nor is
/// who waits trusted to have him killed: `LockParties` says who may.
public struct FileLock: ~Copyable {
    private let file: FileDescriptor
    private let owner: UInt32
    private let timing: LockTiming
    /// False between `release` and `takeAgain`.
    private var isHeld = true

    deinit { if isHeld { signet_lock_release(file.raw) } }

    /// Waits for the lock on the file `name` of `folder`, which is made where it is not there.
    ///
    /// `owner` is whose account it guards; what is nobody's alone, such as the store and its index, is root's.
    package init(
        _ name: FileName, in folder: borrowing SecureFolder, owner: UInt32 = 0, timing: LockTiming = LockTiming()
    ) throws(StoreError) {
        var observer = HolderObserver(timing: timing, owner: owner)
        while true {
            do throws(FileFault) {
                let file = try folder.lockFile(name)
                try observer.wait(for: file)
                // Who removed the user's records while we waited removed this file too: the lock is then on nothing.
                if try folder.names(name, FileIdentity(try file.status())) {
                    self.file = file
                    self.owner = owner
                    self.timing = timing
                    return
                }
            } catch {
                throw FileLock.error(error)
            }
        }
    }

    /// Gives the lock back, and keeps its file open for `takeAgain`.
    package mutating func release() {
        guard isHeld else { return }
        isHeld = false
        signet_lock_release(file.raw)
    }

    /// Waits again for the lock, on the file `name` of `folder`; false where that is another file now, and nothing is held.
    package mutating func takeAgain(
        _ name: FileName, in folder: borrowing SecureFolder
    ) throws(StoreError) -> Bool {
        guard !isHeld else { return true }
        do throws(FileFault) {
            var observer = HolderObserver(timing: timing, owner: owner)
            try observer.wait(for: file)
            isHeld = true
            // Looked at anew: a program that closes what it did not open leaves the number to another file.
            if try folder.names(name, FileIdentity(try file.status())) { return true }
        } catch {
            release()
            throw FileLock.error(error)
        }
        release()
        return false
    }

    private static func error(_ fault: FileFault) -> StoreError {
        fault == .system(errno: EAGAIN) ? .busy : StoreError(.store, fault)
    }
}

/// Waits for a lock and watches who holds it.
private struct HolderObserver {
    let timing: LockTiming
    let owner: UInt32
    let start: UInt64
    var lastLook: UInt64
    var holder = Holder.nobody
    var heldFor: UInt64 = 0
    /// Milliseconds of the next pause, at least: a sixteenth of the time that was waited, up to `longestInterval`.
    ///
    /// Else 64 processes that wait for one user look ten thousand times a second, and take a processor from everybody.
    var interval: UInt64
    static let longestInterval: UInt64 = 64

    /// Who holds the lock, as the lock itself says.
    struct Holder: Equatable {
        let process: pid_t
        /// The real user it had when it took the lock; nil where the lock does not say.
        ///
        /// Not the one it has now: a program is its user's who called it, and root's alone while it starts a helper.
        let user: UInt32?

        static let nobody = Holder(process: 0, user: nil)

        init(process: pid_t, user: UInt32?) {
            self.process = process
            self.user = user
        }

        init(of file: borrowing FileDescriptor) {
            var user = uid_t.max
            // SAFETY: `user` is ours and outlives the call.
            process = unsafe signet_lock_holder(file.raw, &user)
            self.user = user == .max ? nil : user
        }
    }

    init(timing: LockTiming, owner: UInt32) {
        self.timing = timing
        self.owner = owner
        interval = timing.pollInterval
        start = monotonicMilliseconds()
        lastLook = start
    }

    /// Returns with the lock held; `system(EAGAIN)` where the wait is over.
    mutating func wait(for file: borrowing FileDescriptor) throws(FileFault) {
        while signet_lock_try(file.raw) != 0 {
            let code = signet_errno()
            guard code == EACCES || code == EAGAIN || code == EINTR else { throw .system(errno: code) }
            look(at: file)
            guard lastLook - start < timing.waitLimit else { throw .system(errno: EAGAIN) }
            pause()
        }
    }

    private mutating func look(at file: borrowing FileDescriptor) {
        let now = max(monotonicMilliseconds(), lastLook)
        // If we were stopped ourselves, we did not see that the lock changed hands in between: a long gap counts
        // little.
        let seen = min(now - lastLook, 10 * interval + 10)
        lastLook = now
        interval = max(timing.pollInterval, min((now - start) / 16, HolderObserver.longestInterval))
        let current = Holder(of: file)
        guard current == holder, current.process > 0 else {
            holder = current
            heldFor = 0
            return
        }
        heldFor += seen
        guard heldFor >= timing.holdLimit else { return }
        let parties = LockParties(owner: owner, waiter: getuid(), holder: current.user)
        switch parties.treatment(ofHolderInDiskSleep: DiskSleep.isSeen(in: current.process)) {
        case .spare: break
        case .startAnew: heldFor = 0
        case .kill:
            heldFor = 0
            kill(current, holding: file)
        }
    }

    /// Kills the holder, and nobody who got its number after it.
    private func kill(_ holder: Holder, holding file: borrowing FileDescriptor) {
        let process = holder.process
        // Number 1 is the machine's or the container's own.
        guard process > 1, process != getpid() else { return }
        let handle = signet_pidfd_open(process)
        guard handle >= 0 else {
            if signet_errno() == ENOSYS { _ = CPlatform.kill(process, SIGKILL) }
            return
        }
        let owned = FileDescriptor(owning: handle)
        // The handle was made before this look: if the number still holds the lock, the handle means its holder.
        guard Holder(of: file) == holder else { return }
        _ = signet_pidfd_kill(owned.raw, SIGKILL)
    }

    private func pause() {
        let jitter = UInt64(randombytes_uniform(UInt32(clamping: interval * 1000)))
        var time = timespec(
            tv_sec: 0, tv_nsec: Int(clamping: (interval * 1000 + jitter) * 1000 % 1_000_000_000))
        // SAFETY: `time` is ours and outlives the call; a signal only shortens the pause.
        _ = unsafe nanosleep(&time, nil)
    }
}

/// Milliseconds on a clock that nobody sets.
func monotonicMilliseconds() -> UInt64 {
    var time = timespec()
    // SAFETY: `time` is ours and outlives the call.
    guard unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
    return UInt64(clamping: time.tv_sec) * 1000 + UInt64(clamping: time.tv_nsec / 1_000_000)
}
