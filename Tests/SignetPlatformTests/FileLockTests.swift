import Foundation
import SignetEngine
import SignetPlatform
import Testing

private func timing(hold: UInt64, wait: UInt64) -> LockTiming {
    var timing = LockTiming()
    timing.holdLimit = hold
    timing.waitLimit = wait
    return timing
}

private func appears(_ path: String) {
    for _ in 0..<5000 {
        if access(path, F_OK) == 0 { return }
        usleep(2000)
    }
    exit(63)
}

private func touch(_ path: String) { close(open(path, O_WRONLY | O_CREAT, 0o600)) }

private func takeLock(_ path: String, owner: UInt32 = 1001, timing: LockTiming = LockTiming()) throws -> FileLock {
    try FileLock(.lock, in: SecureFolder(path: Array(path.utf8)), owner: owner, timing: timing)
}

/// Becomes what `sudo` and `su` are when `user` starts them: root with that real user.
private func become(_ user: uid_t) { require(setreuid(user, 0) == 0, 64) }

/// Starts a process of `user` that takes the lock and stops itself; returns when it has the lock.
private func startStoppedHolder(_ path: String, _ user: uid_t) -> pid_t {
    let holder = startProcess {
        become(user)
        let lock = try takeLock(path)
        // Now it is root's alone, as it is while it starts a helper.
        become(0)
        touch("\(path)/ready")
        raise(SIGSTOP)
        _ = consume lock
    }
    appears("\(path)/ready")
    unlink("\(path)/ready")
    return holder
}

/// Waits for the lock as `user`, in a process of its own; its exit status, 61 where it was not let in.
private func wait(_ path: String, _ user: uid_t, _ timing: LockTiming) -> Int32 {
    end(
        of: startProcess {
            become(user)
            _ = try takeLock(path, timing: timing)
        })
}

/// Real processes that hold and wait.
///
/// Each test runs in a process of its own (an exit test), which starts the others.
@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's")) struct FileLockTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Catches a lock that lets two in, and a waiter that kills in a queue where each holds the lock only shortly:
    /// together they hold it much longer than the limit.
    @Test func oneAtATime() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let count = "\(path)/count"
            try Data([0]).write(to: URL(fileURLWithPath: count))
            let processes = (0..<6).map { _ in
                startProcess {
                    for _ in 0..<10 {
                        let lock = try takeLock(path, timing: timing(hold: 400, wait: 60_000))
                        let file = open(count, O_RDWR)
                        var value: UInt8 = 0
                        pread(file, &value, 1, 0)
                        usleep(10_000)
                        value += 1
                        pwrite(file, &value, 1, 0)
                        close(file)
                        _ = consume lock
                    }
                }
            }
            let ends = processes.map(end(of:))
            require(ends == [0, 0, 0, 0, 0, 0], 10)
            require(try read(count) == [60], 11)
        }
    }

    /// Catches a waiter that lets a frozen holder keep the user out: anybody can stop his own `su alice`.
    @Test func frozenHolderIsKilled() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let holder = startProcess {
                let lock = try takeLock(path)
                touch("\(path)/ready")
                raise(SIGSTOP)
                _ = consume lock
            }
            appears("\(path)/ready")
            let start = Date()
            let lock = try takeLock(path, timing: timing(hold: 300, wait: 60_000))
            require(Date().timeIntervalSince(start) >= 0.25, 10)
            require(end(of: holder) == -SIGKILL, 11)
            _ = consume lock
        }
    }

    /// Catches a person who waits in `su alice` and so kills alice's own sudo, or root's login, whose charge then stays.
    ///
    /// And one who is kept out of his own account, or out of alice's, by another person's stopped su.
    @Test func nobodyKillsWhatIsTheOwnersOrRoots() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let (alice, bob, carol): (uid_t, uid_t, uid_t) = (1001, 1002, 1003)
            for user in [alice, 0] {
                let holder = startStoppedHolder(path, user)
                require(wait(path, bob, timing(hold: 100, wait: 700)) == 61, 10)
                // It lives: who waits next finds it, and is root or alice herself.
                require(wait(path, user, timing(hold: 100, wait: 60_000)) == 0, 11)
                require(end(of: holder) == -SIGKILL, 12)
            }
            for user in [alice, carol, 0, bob] {
                let holder = startStoppedHolder(path, bob)
                require(wait(path, user, timing(hold: 100, wait: 60_000)) == 0, 13)
                require(end(of: holder) == -SIGKILL, 14)
            }
        }
    }

    /// Catches an owner or an administrator who kills one of theirs that waits for the disk, and strangers who kill each other's.
    @Test func whoWaitsForTheDiskIsNotKilled() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let (alice, bob, carol): (uid_t, uid_t, uid_t) = (1001, 1002, 1003)
            let pipe = "\(path)/pipe"
            require(mkfifo(pipe, 0o600) == 0, 10)
            func startSleeper(_ user: uid_t) -> pid_t {
                let holder = startProcess {
                    become(user)
                    let lock = try takeLock(path)
                    // posix_spawn waits as vfork(2) does, in state D, until its child has another program: it opens the
                    // pipe first, which has no other end.
                    var actions = posix_spawn_file_actions_t()
                    posix_spawn_file_actions_init(&actions)
                    posix_spawn_file_actions_addopen(&actions, 0, pipe, O_RDONLY, 0)
                    var child: pid_t = 0
                    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
                    let failed = posix_spawn(&child, "/bin/true", &actions, nil, arguments, environ)
                    require(failed == 0, 65)
                    _ = consume lock
                }
                for _ in 0..<5000 {
                    let stat = (try? String(contentsOfFile: "/proc/\(holder)/stat", encoding: .utf8)) ?? ""
                    if stat.contains(") D ") { return holder }
                    usleep(2000)
                }
                exit(66)
            }
            for (holderUser, waiters) in [(alice, [alice, 0, bob]), (0, [alice, 0, bob]), (bob, [carol, bob])] {
                let holder = startSleeper(holderUser)
                for user in waiters {
                    require(wait(path, user, timing(hold: 100, wait: 500)) == 61, 11)
                }
                // Its disk answers: it ends by itself.
                let other = open(pipe, O_WRONLY)
                require(end(of: holder) == 0, 12)
                close(other)
            }
        }
    }

    /// Catches a waiter that takes a lock without its holder's name, as other versions have it, for a stranger's.
    @Test func aLockThatDoesNotSayWhose() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let holder = startProcess {
                let file = open("\(path)/lock", O_RDWR | O_CREAT, 0o600)
                var lock = flock()
                lock.l_type = Int16(F_WRLCK)
                require(fcntl(file, F_SETLK, &lock) == 0 && flock(file, LOCK_EX) == 0, 67)
                touch("\(path)/ready")
                raise(SIGSTOP)
            }
            appears("\(path)/ready")
            require(wait(path, 1002, timing(hold: 100, wait: 500)) == 61, 10)
            require(wait(path, 1001, timing(hold: 100, wait: 60_000)) == 0, 11)
            require(end(of: holder) == -SIGKILL, 12)
        }
    }

    /// Catches a wait without end, and a holder who is killed although he is within the limit.
    @Test func waitHasAnEnd() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let holder = startProcess {
                let lock = try takeLock(path)
                touch("\(path)/ready")
                appears("\(path)/done")
                _ = consume lock
            }
            appears("\(path)/ready")
            let error = storeError { _ = try takeLock(path, timing: timing(hold: 60_000, wait: 200)) }
            touch("\(path)/done")
            require(error == .busy, 10)
            require(end(of: holder) == 0, 11)
        }
    }

    /// Catches a waiter that was stopped itself and takes one long gap for one long hold: an innocent would be killed.
    @Test func stoppedWaiterKillsNobody() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let holder = startProcess {
                let lock = try takeLock(path)
                touch("\(path)/ready")
                appears("\(path)/done")
                _ = consume lock
            }
            appears("\(path)/ready")
            let waiter = startProcess {
                touch("\(path)/waiting")
                let lock = try takeLock(path, timing: timing(hold: 1000, wait: 60_000))
                _ = consume lock
            }
            appears("\(path)/waiting")
            usleep(50_000)
            kill(waiter, SIGSTOP)
            usleep(1_200_000)
            kill(waiter, SIGCONT)
            usleep(50_000)
            touch("\(path)/done")
            require(end(of: holder) == 0, 10)
            require(end(of: waiter) == 0, 11)
        }
    }

    /// Catches a lock on a file that was removed meanwhile: the next one would lock another file, and both be in.
    @Test func removedFileIsNoLock() async throws {
        let path = folder.path
        try makeStore(folder)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let remover = startProcess {
                var store = try userStore(Array(path.utf8))
                try store.lock()
                try store.create(identity())
                touch("\(path)/ready")
                usleep(100_000)
                try store.remove()
                usleep(50_000)
                store.unlock()
            }
            appears("\(path)/ready")
            var store = try userStore(Array(path.utf8))
            try store.lock()
            require(names(in: "\(path)/users/1000") == ["lock"], 10)
            let other = startProcess {
                var store = try userStore(Array(path.utf8), timing: timing(hold: 60_000, wait: 100))
                try store.lock()
            }
            require(end(of: other) == 61, 11)
            require(end(of: remover) == 0, 12)
        }
    }

    /// Catches a store that, with its lock file still open, keeps others out after it gave the lock back, is let in while they
    /// have it, or is not found by who waits for it when it hangs.
    @Test func theLockIsTakenAgain() async throws {
        let path = folder.path
        try makeStore(folder)
        await #expect(processExitsWith: .success) { [path = path as String] in
            var store = try userStore(Array(path.utf8), timing: timing(hold: 60_000, wait: 100))
            try store.lock()
            store.unlock()
            let other = startProcess {
                var store = try userStore(Array(path.utf8), timing: timing(hold: 60_000, wait: 100))
                for _ in 0..<2 {
                    try store.lock()
                    store.unlock()
                }
                try store.lock()
                touch("\(path)/ready")
                raise(SIGSTOP)
            }
            appears("\(path)/ready")
            require(storeError { try store.lock() } == .busy, 10)
            var heir = try userStore(Array(path.utf8), timing: timing(hold: 200, wait: 60_000))
            try heir.lock()
            require(end(of: other) == -SIGKILL, 11)
            require(storeError { try store.lock() } == .busy, 12)
            heir.unlock()
            try store.lock()
        }
    }

    /// Catches a store that takes its lock again on a folder that was removed and made anew meanwhile: it would read and count
    /// where nobody else looks.
    @Test func theLockIsTakenWhereTheRecordsAreNow() async throws {
        let path = folder.path
        try makeStore(folder)
        await #expect(processExitsWith: .success) { [path = path as String] in
            var store = try userStore(Array(path.utf8))
            try store.create(identity())
            try store.lock()
            store.unlock()
            var other = try userStore(Array(path.utf8), timing: timing(hold: 60_000, wait: 100))
            try other.lock()
            try other.remove()
            try other.create(identity(instance: 9))
            other.unlock()
            try store.lock()
            require(try store.loadIdentity() == identity(instance: 9), 10)
            require(storeError { try other.lock() } == .busy, 11)
            store.unlock()
            // Only the lock file: whoever locks the new one would not be kept out.
            require(unlink("\(path)/users/1000/lock") == 0, 12)
            try store.lock()
            require(storeError { try other.lock() } == .busy, 13)
        }
    }

    /// Catches a wait without end where the whole store is removed (a package's purge) while somebody proves who they are.
    @Test func aRemovedStoreIsNotWaitedFor() async throws {
        let path = folder.path
        try makeStore(folder)
        await #expect(processExitsWith: .success) { [path = path as String] in
            var store = try userStore(Array(path.utf8))
            try FileManager.default.removeItem(atPath: "\(path)/users")
            alarm(10)
            require(storeError { try store.lock() } == .fault(.store, .missing), 10)
        }
    }

    /// Catches two threads of one program that are both let in, each with the same counters: record locks do not keep a
    /// process from itself.
    @Test func threadsExcludeEachOther() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let first = try takeLock(path)
            require(storeError { _ = try takeLock(path, timing: timing(hold: 60_000, wait: 100)) } == .busy, 10)
            // What the second one closed gave up the record lock; another process must be kept out all the same.
            let other = startProcess { _ = try takeLock(path, timing: timing(hold: 60_000, wait: 100)) }
            require(end(of: other) == 61, 11)
            _ = consume first
            require(storeError { _ = try takeLock(path) } == nil, 12)
        }
    }

    /// Catches a lock file that is a link, or that others can open and so hold for ever.
    @Test func unsafeLockFilesAreRefused() throws {
        let path = folder.path
        symlink("/etc/hostname", folder.sub("lock"))
        #expect(storeError { _ = try takeLock(path) } == .fault(.store, .unsafe))
        unlink(folder.sub("lock"))
        #expect(storeError { _ = try takeLock(path) } == nil)
        chmod(folder.sub("lock"), 0o666)
        #expect(storeError { _ = try takeLock(path) } == .fault(.store, .unsafe))
    }

    /// Catches an unlock that does nothing, and a second lock of the holder that blocks on itself.
    @Test func lockAndUnlockRepeat() throws {
        try makeStore(folder)
        var store = try userStore(folder.bytes)
        store.unlock()
        for _ in 0..<3 {
            try store.lock()
            try store.lock()
            store.unlock()
            store.unlock()
        }
    }
}
