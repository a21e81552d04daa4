package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// New sets from old ones. Every change by Signet's own commands is one generation further.

extension EnrollmentSet {
    /// The set with one print more, the last; nil where there is no room or memory for it.
    package borrowing func adding(_ print: borrowing EnrolledPrint, as finger: Finger, at wallTime: Int64)
        -> EnrollmentSet?
    {
        guard print.template.count <= PrintEntry.templateLimit, let next = nextGeneration,
            var joined = SecretBytes(count: templates.count + print.template.count)
        else { return nil }
        let start = templates.count
        templates.withBytes { bytes in
            joined.withMutableBytes { target in copy(bytes, to: &target, at: 0) }
        }
        print.template.withBytes { bytes in
            joined.withMutableBytes { target in copy(bytes, to: &target, at: start) }
        }
        let entry = PrintEntry(
            finger: finger, reader: print.reader, onReader: print.onReader, enrolledAt: wallTime,
            template: start..<(start + print.template.count))
        return EnrollmentSet(generation: next, entries: entries + [entry], templates: joined)
    }

    /// The set with the prints of `other` that are at `indices` behind its own; nil where there is no room or memory.
    package borrowing func joining(_ other: borrowing EnrollmentSet, _ indices: [Int]) -> EnrollmentSet? {
        guard let next = nextGeneration, var joined = removing([]) else { return nil }
        for index in indices {
            guard other.entries.indices.contains(index), let print = other.duplicate(of: index) else { return nil }
            let entry = other.entries[index]
            guard let longer = joined.adding(print, as: entry.finger, at: entry.enrolledAt) else { return nil }
            joined = longer
        }
        // However many came, it is one change.
        return joined.numbered(next)
    }

    /// A copy of one print.
    private borrowing func duplicate(of index: Int) -> EnrolledPrint? {
        let entry = entries[index]
        guard let template = withTemplate(of: entry, { bytes in SecretBytes(copying: bytes) }) else { return nil }
        return EnrolledPrint(reader: entry.reader, onReader: entry.onReader, template: template)
    }

    /// The same prints under another generation.
    package consuming func numbered(_ generation: UInt64) -> EnrollmentSet? {
        EnrollmentSet(generation: generation, entries: entries, templates: templates)
    }

    /// The set without the prints at `indices`; nil where memory is short.
    package borrowing func removing(_ indices: [Int]) -> EnrollmentSet? {
        var kept: [PrintEntry] = []
        var length = 0
        for index in 0..<entries.count where !indices.contains(index) { length += entries[index].template.count }
        guard let next = nextGeneration, var rest = SecretBytes(count: length) else { return nil }
        var position = 0
        for index in 0..<entries.count where !indices.contains(index) {
            let entry = entries[index]
            withTemplate(of: entry) { bytes in
                rest.withMutableBytes { target in copy(bytes, to: &target, at: position) }
            }
            kept.append(
                PrintEntry(
                    finger: entry.finger, reader: entry.reader, onReader: entry.onReader, enrolledAt: entry.enrolledAt,
                    template: position..<(position + entry.template.count)))
            position += entry.template.count
        }
        return EnrollmentSet(generation: next, entries: kept, templates: rest)
    }

    private var nextGeneration: UInt64? {
        let (next, overflow) = generation.addingReportingOverflow(1)
        return overflow ? nil : next
    }
}

private func copy(_ bytes: Span<UInt8>, to target: inout MutableSpan<UInt8>, at start: Int) {
    for index in 0..<bytes.count where start + index < target.count { target[start + index] = bytes[index] }
}
