/// A way to a TPM that Signet takes: a device, or the socket of a software TPM.
///
/// Always named in full: where nothing is named, tss2 would go to TCP port 2321 at last, where any user can put a TPM
/// of his own.
struct Interface {
    let isSoftware: Bool
    /// Whether it is the kernel's resource manager, which gives each connection a TPM of its own.
    let isManaged: Bool
    /// What tss2's TCTI of this kind wants to know, with a zero at its end.
    let configuration: [CChar]

    /// The longest name in bytes.
    private static let limit = 256

    /// Takes `device:` and the absolute path of a device below /dev, or `swtpm:path=` and the absolute path of a socket;
    /// nil for all else.
    init?(_ name: [UInt8]) {
        let device = Array("device:".utf8)
        let software = Array("swtpm:path=".utf8)
        guard name.count <= Interface.limit else { return nil }
        let path: [UInt8]
        if name.starts(with: device) {
            path = Array(name.dropFirst(device.count))
            guard path.starts(with: Array("/dev/".utf8)) else { return nil }
            isSoftware = false
            isManaged = path.starts(with: Array("/dev/tpmrm".utf8))
            configuration = Interface.terminated(path)
        } else if name.starts(with: software) {
            path = Array(name.dropFirst(software.count))
            isSoftware = true
            isManaged = false
            configuration = Interface.terminated(Array("path=".utf8) + path)
        } else {
            return nil
        }
        guard Interface.isPlain(path) else { return nil }
    }

    /// Whether `path` is absolute, has no part that is empty, `.` or `..`, and only bytes that mean nothing to a TCTI,
    /// which splits its configuration at commas and equal signs.
    private static func isPlain(_ path: [UInt8]) -> Bool {
        guard path.first == UInt8(ascii: "/") else { return false }
        for part in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let first = part.first, first != UInt8(ascii: ".") else { return false }
        }
        return path.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                return true
            default: return false
            }
        }
    }

    private static func terminated(_ bytes: [UInt8]) -> [CChar] { (bytes + [0]).map { CChar(bitPattern: $0) } }
}
