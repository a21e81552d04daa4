/// Names in commands that people are told, and paste into a shell, often root's.
package enum ShellWord {
    /// A name as one word of a shell's command: as it is where it has letters, digits and `_.@-` alone, else in single
    /// quotes, within which a shell takes every character as it is (POSIX.1-2017, Shell Command Language, 2.2.2).
    ///
    /// "USER" stands for what cannot be told so: nothing, more than 64 bytes, what cannot be shown on a terminal, and what
    /// begins like an option.
    package static func quoted(_ name: [UInt8]) -> String {
        guard !name.isEmpty, name.count <= 64, name[0] != 0x2D else { return "USER" }
        let shown = UTF8Text.printable(name)
        guard isSame(shown, name) else { return "USER" }
        if name.allSatisfy(isPlain) { return shown }
        var word: [UInt8] = [0x27]
        for byte in name {
            // A quote ends the quotes, stands escaped by itself, and opens them again.
            if byte == 0x27 { word += [0x27, 0x5C, 0x27] }
            word.append(byte)
        }
        word.append(0x27)
        return String(decoding: word, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x40...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    private static func isSame(_ text: String, _ bytes: [UInt8]) -> Bool {
        var index = 0
        for byte in text.utf8 {
            guard index < bytes.count, bytes[index] == byte else { return false }
            index += 1
        }
        return index == bytes.count
    }
}
