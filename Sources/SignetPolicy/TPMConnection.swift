/// The ways to a TPM that the configuration may name, as tpm2-tss writes them (Tss2_TctiLdr_Initialize(3)).
///
/// A short list, for the loader also knows `cmd:`, which runs a program, and takes an empty name for a search that ends
/// at a network port which any user can serve.
package enum TPMConnection {
    /// The longest path of a socket in bytes: `sun_path` of unix(7) has 108, and swtpm's second socket adds `.ctrl`.
    private static let socketLimit = 102

    /// Whether it is a device node under /dev, or a software TPM's socket by its absolute path.
    package static func isPermitted(_ text: ArraySlice<UInt8>) -> Bool {
        if let path = rest(of: text, after: "device:") {
            return rest(of: path, after: "/dev/") != nil && isPlain(path)
        }
        guard let path = rest(of: text, after: "swtpm:path=") else { return false }
        return path.count <= socketLimit && isPlain(path)
    }

    /// Whether it is a device, and no stand-in for one.
    package static func isDevice(_ text: ArraySlice<UInt8>) -> Bool { rest(of: text, after: "device:") != nil }

    /// Absolute, without empty, `.` or `..` parts, of letters, digits and `.`, `_`, `-`.
    ///
    /// tpm2-tss reads `,` and `=` in a software TPM's path as more settings, a host among them.
    private static func isPlain(_ path: ArraySlice<UInt8>) -> Bool {
        guard path.first == 0x2F, path.count > 1, path.count < 256 else { return false }
        for part in path.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
        where part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
            return false
        }
        for byte in path {
            switch byte {
            case 0x2D...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: continue
            default: return false
            }
        }
        return true
    }

    private static func rest(of text: ArraySlice<UInt8>, after beginning: StaticString) -> ArraySlice<UInt8>? {
        let count = beginning.utf8CodeUnitCount
        guard text.count > count else { return nil }
        // SAFETY: a static string's code units live as long as the program, and it knows how many there are.
        let matches = unsafe text.prefix(count).elementsEqual(
            UnsafeBufferPointer(start: beginning.utf8Start, count: count))
        return matches ? text.dropFirst(count) : nil
    }
}

extension EnclavePreference {
    /// As it is written in the file.
    package var word: String {
        switch self {
        case .require: "require"
        case .prefer: "prefer"
        case .file: "file"
        }
    }
}
