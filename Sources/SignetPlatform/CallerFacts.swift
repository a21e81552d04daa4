internal import CPlatform
package import SignetPolicy

/// What decides whether a person at the machine stands behind the caller, as far as the machine can tell.
package struct CallerFacts: Equatable, Sendable {
    /// The real uid of the process: who typed `su alice`.
    package let realUID: UInt32
    /// Whether the caller sits elsewhere.
    package let isRemote: Bool
    /// Whether the caller's session has no seat, or another one than seat0.
    package let isAtAnotherSeat: Bool
    /// Whether a lid is closed, over a reader that may be inside.
    package let lidClosed: Bool
    /// Whether the process has a terminal in whose background it runs.
    package let isBackground: Bool

    package init(realUID: UInt32, isRemote: Bool, isAtAnotherSeat: Bool, lidClosed: Bool, isBackground: Bool) {
        self.realUID = realUID
        self.isRemote = isRemote
        self.isAtAnotherSeat = isAtAnotherSeat
        self.lidClosed = lidClosed
        self.isBackground = isBackground
    }

    /// Looks at this process; `remoteHost` is PAM_RHOST, or nil where it was not set, `service` PAM_SERVICE.
    package static func current(remoteHost: [UInt8]?, service: [UInt8]) -> CallerFacts {
        read(remoteHost: remoteHost, service: service, realUID: getuid(), root: [])
    }

    /// Looks at this process where it is a command of its own, which `caller` gave: with sudo, as its uid says, or without.
    package static func ofCommand(givenBy caller: UInt32) -> CallerFacts {
        read(remoteHost: nil, service: [], realUID: caller, root: [], behindSudo: true)
    }

    /// Why a finger is no answer from where the caller is; nil where one may be.
    package var placeClosure: FingerClosure? { isRemote ? .remote : isAtAnotherSeat ? .anotherSeat : nil }

    /// The same, and whether a lid covers the readers that are inside: what a command on a terminal is judged by.
    package var surroundings: FingerSurroundings { FingerSurroundings(closure: placeClosure, lidClosed: lidClosed) }

    /// For tests: the same with another uid and with `root` before /proc and /run.
    ///
    /// `behindSudo` also looks at a sudo that started this process, and gave it an environment without what ssh had set.
    package static func read(
        remoteHost: [UInt8]?, service: [UInt8], realUID: UInt32, root: [UInt8], behindSudo: Bool = false
    ) -> CallerFacts {
        let machine = Machine(root: root)
        let sessions = machine.sessions(uid: realUID)
        return CallerFacts(
            realUID: realUID,
            isRemote: isRemote(host: remoteHost) || RemoteService.isRemote(service)
                || machine.hasRemoteEnvironment(behindSudo: behindSudo) || sessions.contains { $0.isRemote },
            isAtAnotherSeat: !sessions.isEmpty && !sessions.contains { $0.isAtReaders },
            lidClosed: machine.isLidClosed, isBackground: machine.isInBackground)
    }

    /// Whether PAM_RHOST names another machine.
    static func isRemote(host: [UInt8]?) -> Bool {
        guard let host, !host.isEmpty else { return false }
        for local in ["localhost", "127.0.0.1", "::1"] where host.elementsEqual(local.utf8) { return false }
        return true
    }
}

/// The files of /proc and /run that tell.
private struct Machine {
    let root: [UInt8]

    /// The longest environment that is searched, in bytes; a longer one is nothing an honest caller has.
    static let environmentLimit = 1 << 20
    static let fileLimit = 1 << 16

    private func path(_ text: StaticString, _ name: [UInt8] = [], _ rest: StaticString = "") -> [UInt8] {
        root + KeyedHash.bytes(of: text) + name + KeyedHash.bytes(of: rest)
    }

    /// A hint only, which denies: sshd sets these, and whoever wants to can unset them.
    ///
    /// The environment that the process was started with is read, since sudo cleans its own.
    func hasRemoteEnvironment(behindSudo: Bool) -> Bool {
        if isRemote(environmentOf: Array("self".utf8)) { return true }
        guard behindSudo, let sudo else { return false }
        return isRemote(environmentOf: sudo)
    }

    /// The process that started this one, where it is sudo: that one itself, or its copy that keeps the terminal.
    private var sudo: [UInt8]? {
        guard let status = SmallFile.read(path("/proc/self/status"), limit: Machine.fileLimit),
            let parent = value(of: "PPid:\t", in: status),
            let name = SmallFile.read(path("/proc/", Array(parent), "/comm"), limit: Machine.fileLimit),
            name.elementsEqual("sudo\n".utf8)
        else { return nil }
        return Array(parent)
    }

    private func isRemote(environmentOf process: [UInt8]) -> Bool {
        let environment: [UInt8]
        do throws(FileFault) {
            environment = try SmallFile.load(path("/proc/", process, "/environ"), limit: Machine.environmentLimit)
        } catch {
            // Where there is no such file the hint is missing, no more.
            return error == .wrongSize
        }
        for variable in environment.split(separator: 0) {
            for name in ["SSH_CONNECTION=", "SSH_CLIENT=", "SSH_TTY="] where variable.starts(with: name.utf8) {
                return true
            }
        }
        return false
    }

    /// What logind says of a session.
    struct Session {
        let isRemote: Bool
        /// Whether its seat is seat0, to which every device belongs that nobody gave to another seat (sd-login(3)).
        ///
        /// A session without a seat is that of nobody at a screen, whatever its REMOTE says: xrdp and VNC open such ones.
        let isAtReaders: Bool

        /// In a session that logind does not know: it ended, or never was.
        static let unknown = Session(isRemote: true, isAtReaders: false)
    }

    /// Asks logind's files: the session of this process, or, where it is in none, all sessions of the user.
    ///
    /// A process outside any session may have been started from a remote one: `systemd-run --user` over ssh. Root's
    /// processes are outside all sessions by nature: `login` and display managers.
    func sessions(uid: UInt32) -> [Session] {
        if let session { return [read(session: session) ?? .unknown] }
        guard uid != 0 else { return [] }
        guard let user = SmallFile.read(path("/run/systemd/users/", Array("\(uid)".utf8)), limit: Machine.fileLimit),
            let names = value(of: "SESSIONS=", in: user)
        else { return [] }
        return names.split(separator: UInt8(ascii: " ")).compactMap { read(session: Array($0)) }
    }

    /// The session that the kernel keeps this process in, by the name of its control group: `session-3.scope`.
    ///
    /// Below `user@1000.service` a user makes groups as they like (systemd.resource-control(5), Delegate=): a group there
    /// that is called like a session at the machine is none.
    private var session: [UInt8]? {
        guard let groups = SmallFile.read(path("/proc/self/cgroup"), limit: Machine.fileLimit) else { return nil }
        for line in groups.split(separator: 0x0A) {
            for group in line.split(separator: UInt8(ascii: "/")) {
                if group.starts(with: "user@".utf8) { break }
                if let name = Machine.session(in: Array(group)) { return name }
            }
        }
        return nil
    }

    private static func session(in group: [UInt8]) -> [UInt8]? {
        let prefix = Array("session-".utf8)
        let suffix = Array(".scope".utf8)
        guard group.count > prefix.count + suffix.count, group.starts(with: prefix),
            group[(group.count - suffix.count)...].elementsEqual(suffix)
        else { return nil }
        return Array(group[prefix.count..<(group.count - suffix.count)])
    }

    /// nil where logind has no such session.
    private func read(session: [UInt8]) -> Session? {
        for byte in session {
            let isDigit = byte >= 0x30 && byte <= 0x39
            let isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A
            guard isDigit || isLetter else { return nil }
        }
        guard let file = SmallFile.read(path("/run/systemd/sessions/", session), limit: Machine.fileLimit) else {
            return nil
        }
        return Session(
            isRemote: value(of: "REMOTE=", in: file)?.elementsEqual([UInt8(ascii: "1")]) ?? false,
            isAtReaders: value(of: "SEAT=", in: file)?.elementsEqual("seat0".utf8) ?? false)
    }

    /// `state:      closed`, in a folder that each lid has (Linux, drivers/acpi/button.c).
    var isLidClosed: Bool {
        for lid in SmallFile.names(in: path("/proc/acpi/button/lid")) {
            guard let state = SmallFile.read(path("/proc/acpi/button/lid/", lid, "/state"), limit: Machine.fileLimit)
            else { continue }
            let spaces: [UInt8] = [0x20, 0x09, 0x0A]
            for word in state.split(whereSeparator: { spaces.contains($0) }) where word.elementsEqual("closed".utf8) {
                return true
            }
        }
        return false
    }

    /// Whether the process's terminal reads from another group.
    var isInBackground: Bool {
        guard let job = JobStatus.read(root: root), job.terminal != nil else { return false }
        return job.group != job.foreground
    }

    /// The rest of the line that begins with `key`.
    private func value(of key: StaticString, in file: [UInt8]) -> ArraySlice<UInt8>? {
        let key = KeyedHash.bytes(of: key)
        for line in file.split(separator: 0x0A) where line.starts(with: key) { return line.dropFirst(key.count) }
        return nil
    }
}
