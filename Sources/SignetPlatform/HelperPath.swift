/// The path of a helper program, checked.
struct HelperPath {
    /// The path with a zero at its end.
    let terminated: [UInt8]

    /// Takes an absolute path to a regular, executable file that root owns and nobody else may write, in folders of
    /// which the same holds up to the root; nil for any other.
    ///
    /// No part may be a symbolic link. Since only root can change any part, what is executed later is what was checked.
    init?(_ path: [UInt8]) {
        guard SafePath.problem(with: path, .program) == nil else { return nil }
        terminated = path + [0]
    }
}
