internal import CPlatform
internal import SignetPlatform
internal import SignetSecrets

/// Who has a system password, as far as shadow(5) says.
///
/// Of each password's hash one byte is looked at, and none is kept: the file is read through memory that is wiped.
struct SystemPasswords {
    /// More than any such file has.
    private static let sizeLimit = 64 << 20

    private var usable: [String: Bool] = [:]
    // The line that is read: its name, how many colons came, and how the password's field begins.
    private var name: [UInt8] = []
    private var colons = 0
    private var beginning: UInt8?

    /// What the file says; nil where it cannot be read.
    static func read(_ path: String) -> SystemPasswords? {
        guard let file = PlainFile.open(path), var memory = SecretBytes(count: 4096) else { return nil }
        var passwords = SystemPasswords()
        var total = 0
        while total <= sizeLimit {
            let count = memory.withMutableBytes { PlainFile.read(file, into: &$0) }
            guard let count else { return nil }
            if count == 0 { break }
            total += count
            memory.withBytes { bytes in passwords.take(bytes.extracting(0..<count)) }
        }
        passwords.endLine()
        return passwords
    }

    /// Takes the next part of the file.
    mutating func take(_ part: Span<UInt8>) {
        for index in part.indices {
            let byte = part[index]
            if byte == UInt8(ascii: "\n") {
                endLine()
            } else if byte == UInt8(ascii: ":") {
                colons += 1
            } else if colons == 0 {
                name.append(byte)
            } else if colons == 1, beginning == nil {
                beginning = byte
            }
        }
    }

    /// Keeps what the line said, where it has a password's field.
    mutating func endLine() {
        // Locked, or none at all: neither lets anybody in.
        let isUsable = beginning.map { $0 != UInt8(ascii: "!") && $0 != UInt8(ascii: "*") } ?? false
        if colons > 0 { usable[String(decoding: name, as: UTF8.self)] = isUsable }
        name = []
        colons = 0
        beginning = nil
    }

    /// Whether the password may open something; an account of a directory has its password there, and root's is here.
    func mayServe(_ name: String) -> Bool { usable[name] ?? (name != "root") }
}
