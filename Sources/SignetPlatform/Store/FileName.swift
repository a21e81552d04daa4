internal import SignetPolicy

/// One component of a path, ready for the system: neither empty nor "." nor "..", without slash and zero byte.
package struct FileName: Sendable {
    /// The name with its final zero.
    let terminated: [CChar]

    /// Refuses what is no plain name, or longer than NAME_MAX (255 bytes).
    package init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= 255 else { return nil }
        for byte in bytes where byte == 0 || byte == UInt8(ascii: "/") { return nil }
        if bytes == [0x2E] || bytes == [0x2E, 0x2E] { return nil }
        self.init(unchecked: bytes)
    }

    private init(unchecked bytes: [UInt8]) {
        var terminated: [CChar] = []
        terminated.reserveCapacity(bytes.count + 1)
        for byte in bytes { terminated.append(CChar(bitPattern: byte)) }
        terminated.append(0)
        self.terminated = terminated
    }

    /// The name of a number, such as a user's folder.
    package init(number: UInt32) {
        var digits: [UInt8] = []
        digits.reserveCapacity(10)
        digits.append(decimal: Int64(number))
        self.init(unchecked: digits)
    }

    /// The name under which the file's next content is written before it takes its place.
    var temporary: FileName {
        FileName(unchecked: terminated.dropLast().map { UInt8(bitPattern: $0) } + Array(".new".utf8))
    }

    /// The name under which a secret file waits to be overwritten, or a user's folder to be removed.
    var outgoing: FileName {
        FileName(unchecked: terminated.dropLast().map { UInt8(bitPattern: $0) } + Array(".old".utf8))
    }

    package static let users = FileName(unchecked: Array("users".utf8))
    package static let identity = FileName(unchecked: Array("identity".utf8))
    package static let prints = FileName(unchecked: Array("prints".utf8))
    package static let attempts = FileName(unchecked: Array("attempts".utf8))
    /// What is kept of a user, but for the lock.
    static var records: [FileName] { [.identity, .prints, .attempts] }
    package static let lock = FileName(unchecked: Array("lock".utf8))
    package static let key = FileName(unchecked: Array("key".utf8))
    /// The master key as the TPM alone opens it.
    package static let keyTPM = FileName(unchecked: Array("key.tpm".utf8))
    /// Which other master key counts beside the TPM's.
    package static let enclave = FileName(unchecked: Array("enclave".utf8))
    package static let values = FileName(unchecked: Array("values".utf8))
    /// Which prints in readers' memories are whose.
    package static let chips = FileName(unchecked: Array("chips".utf8))
    /// Held while it is changed.
    package static let chipsLock = FileName(unchecked: Array("chips.lock".utf8))
    /// Held while the time of a derivation is spent for a user who does not exist.
    package static let unknownLock = FileName(unchecked: Array("unknown.lock".utf8))
    /// Held while the store moves from one master key to another.
    package static let migrationLock = FileName(unchecked: Array("migration.lock".utf8))
    /// Held while the store is made.
    package static let storeLock = FileName(unchecked: Array("store.lock".utf8))
}
