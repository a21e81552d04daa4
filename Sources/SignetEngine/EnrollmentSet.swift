package import SignetRecords
package import SignetSecrets

/// All prints that Signet keeps for one user; the templates lie in one guarded piece of memory with this one owner.
package struct EnrollmentSet: ~Copyable {
    /// Rises by one with each change by Signet's own commands.
    package let generation: UInt64
    /// The prints; each `template` is a range of `templates`.
    package let entries: [PrintEntry]
    package let templates: SecretBytes

    /// The most prints one user may have.
    package static let limit = 40

    /// Takes ownership of the templates; nil where an entry points outside them or there are too many.
    package init?(generation: UInt64, entries: [PrintEntry], templates: consuming SecretBytes) {
        guard entries.count <= EnrollmentSet.limit else { return nil }
        for entry in entries where entry.template.lowerBound < 0 || entry.template.upperBound > templates.count {
            return nil
        }
        self.generation = generation
        self.entries = entries
        self.templates = templates
    }

    /// Lets `body` read the template of `entry`, which must be one of `entries`.
    package borrowing func withTemplate<Result: ~Copyable, Failure: Error>(
        of entry: PrintEntry, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try templates.withBytes { (bytes) throws(Failure) -> Result in
            let range = entry.template
            guard range.lowerBound >= 0, range.upperBound <= bytes.count else {
                return try body(bytes.extracting(0..<0))
            }
            return try body(bytes.extracting(range))
        }
    }
}
