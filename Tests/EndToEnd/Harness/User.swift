import Glibc
import Synchronization

/// A user of the world with a system password, whom nothing outlives.
struct User {
    let name: String
    let password: String
    let uid: uid_t
    let gid: gid_t

    private static let count = Mutex(0)

    /// Makes a new user who may use sudo for everything, or who may not.
    ///
    /// `wanted` is for who needs a certain name, and must not be there yet.
    static func fresh(sudoer: Bool = true, named wanted: String? = nil) throws -> User {
        let number = count.withLock { value in
            value += 1
            return value
        }
        // With the process id, so that worlds in worlds and repeated runs in one world do not meet; in letters, for a PIN may
        // not hold a part of the name.
        let letters = "\(getpid())x\(number)".utf8.map {
            $0 == UInt8(ascii: "x") ? $0 : $0 - UInt8(ascii: "0") + UInt8(ascii: "a")
        }
        let name = wanted ?? "u" + String(decoding: letters, as: UTF8.self)
        let password = "system-\(name)"
        try Command.must("useradd", "--no-create-home", "--home-dir", "/", "--shell", "/bin/sh", name)
        try Command.must("chpasswd", input: "\(name):\(password)\n")
        if sudoer {
            try File.write("\(name) ALL=(ALL:ALL) ALL\n", to: "/etc/sudoers.d/\(name)", mode: 0o440)
        }
        let ids = try Command.must("id", "-u", name) + Command.must("id", "-g", name)
        let numbers = ids.split(separator: "\n").compactMap { UInt32($0) }
        guard numbers.count == 2 else { throw HarnessError("id answered \(ids)") }
        return User(name: name, password: password, uid: numbers[0], gid: numbers[1])
    }

    /// Removes the user, for tests of what a removed user leaves; otherwise the world's end does it.
    func remove() throws {
        try Command.must("userdel", name)
        unlink("/etc/sudoers.d/\(name)")
    }
}
