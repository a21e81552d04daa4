internal import CPlatform
internal import SignetSecrets

/// Why no secret could be read.
enum InputProblem: Error, Equatable {
    /// Nothing came before the end of input.
    case empty
    case tooLong
    /// Standard input is closed, or cannot be read.
    case closed
    case outOfMemory
}

/// Standard input as the source of one secret, without a buffer of the C library's in between.
enum StandardInput {
    /// Reads one line of at most `limit` bytes into guarded memory, byte by byte.
    static func readSecretLine(limit: Int, from input: Int32 = STDIN_FILENO) throws(InputProblem) -> SecretBytes {
        guard var line = SecretBytes(count: limit + 1) else { throw .outOfMemory }
        var length = 0
        while length <= limit {
            let count = line.withMutableBytes { bytes in
                // SAFETY: `length` is below the count, and one byte is read into the place it names.
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe read(input, buffer.baseAddress?.advanced(by: length), 1)
                }
            }
            if count < 0, signet_errno() == EINTR { continue }
            if count < 0 { throw .closed }
            if count == 0, length == 0 { throw .empty }
            if count == 0 || line.withBytes({ $0[length] }) == 0x0A {
                line.truncate(to: length)
                return line
            }
            length += 1
        }
        throw .tooLong
    }
}

extension Failure {
    init(_ problem: InputProblem) {
        let limit = Terminal.answerLimit
        switch problem {
        case .empty:
            self.init(
                .no, "standard input ended before a PIN came",
                hint: "give it one line: \"… | sudo signet pin set --stdin\"")
        case .tooLong:
            self.init(.no, "what came is longer than \(limit) bytes", hint: "give one line of at most \(limit) bytes")
        case .closed:
            self.init(
                .no, "standard input is closed, or cannot be read", hint: "give it a pipe or a file with one line")
        case .outOfMemory: self.init(.no, "memory is short", hint: "run it again")
        }
    }
}
