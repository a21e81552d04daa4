/// The states in which a power cut can leave a folder while a program writes to it.
///
/// What was synced is there: a file's bytes since its own fsync(2) or fdatasync(2), a name since its folder's. Of what
/// was not, each change may be there or not, in any order, and a write may be torn at each sector of 512 bytes, or have
/// made the file longer without its bytes. That is what POSIX leaves open, and less than what any one file system
/// promises.
struct PowerCut {
    /// The smallest part of a write that a disk writes as a whole.
    private static let sector = 512

    private enum Change {
        case write(DiskTrace.Node, offset: Int, [UInt8])
        case truncate(DiskTrace.Node, size: Int)
        /// Names that change together, as rename(2) does it; nil: the name leads nowhere.
        case names([(folder: DiskTrace.Node, name: String, node: DiskTrace.Node?)])

        /// Whether an fsync(2) of this makes it last.
        func belongs(to node: DiskTrace.Node) -> Bool {
            switch self {
            case .write(let file, _, _), .truncate(let file, _): file == node
            case .names(let names): names.contains { $0.folder == node }
            }
        }
    }

    /// One way in which an unsynced change can have come through: not at all, whole, or in these parts.
    private enum Part {
        case nothing, all
        /// The sectors of a write that were written.
        case sectors([Bool])
        /// The file became longer, and no more.
        case length
    }

    private var durable: DiskImage
    /// As the running program sees it.
    private(set) var present: DiskImage
    private var pending: [Change] = []
    private var random: SplitMix

    /// Begins where nothing of the trace was done yet.
    init(from image: DiskImage, seed: UInt64) {
        durable = image
        present = image
        random = SplitMix(state: seed)
    }

    /// Goes on by a step.
    mutating func take(_ step: DiskTrace.Step) {
        switch step {
        case .create(let folder, let name, let node): make(node, isFolder: false, name, in: folder)
        case .makeFolder(let folder, let name, let node): make(node, isFolder: true, name, in: folder)
        case .write(let node, let offset, let bytes): add(.write(node, offset: offset, bytes))
        case .truncate(let node, let size): add(.truncate(node, size: size))
        case .rename(let from, let old, let to, let new):
            guard let node = present.node(old, in: from) else { return }
            add(.names([(from, old, nil), (to, new, node)]))
        case .remove(let folder, let name): add(.names([(folder, name, nil)]))
        case .sync(let node):
            for change in pending where change.belongs(to: node) { PowerCut.apply(change, .all, to: &durable) }
            pending.removeAll { $0.belongs(to: node) }
        case .compare, .tell, .send: break
        }
    }

    private mutating func make(_ node: DiskTrace.Node, isFolder: Bool, _ name: String, in folder: DiskTrace.Node) {
        durable.make(node, isFolder: isFolder)
        present.make(node, isFolder: isFolder)
        pending.removeAll { if case .names = $0 { false } else { $0.belongs(to: node) } }
        add(.names([(folder, name, node)]))
    }

    private mutating func add(_ change: Change) {
        PowerCut.apply(change, .all, to: &present)
        pending.append(change)
    }

    /// The states that a cut can leave now: all of them where they are at most `limit`, else so many of them, by chance.
    mutating func states(limit: Int) -> [DiskImage] {
        var choices: [[Part]] = []
        for change in pending { choices.append(parts(of: change, limit: limit)) }
        let count = choices.reduce(1) { product, parts in min(product * parts.count, limit + 1) }
        if count <= limit {
            return (0..<count).map { number in
                var rest = number
                return state(
                    choices.map { parts in
                        defer { rest /= parts.count }
                        return parts[rest % parts.count]
                    })
            }
        }
        var drawn = [choices.map { $0[0] }, choices.map { $0[1] }]
        while drawn.count < limit { drawn.append(choices.map { $0[Int(random.next() % UInt64($0.count))] }) }
        return drawn.map(state)
    }

    private func state(_ parts: [Part]) -> DiskImage {
        var image = durable
        for (change, part) in zip(pending, parts) { PowerCut.apply(change, part, to: &image) }
        return image
    }

    private mutating func parts(of change: Change, limit: Int) -> [Part] {
        guard case .write(_, _, let bytes) = change else { return [.nothing, .all] }
        let count = (bytes.count + PowerCut.sector - 1) / PowerCut.sector
        var parts: [Part] = [.nothing, .all, .length]
        if count < 10, 1 << count <= limit {
            for mask in 1..<((1 << count) - 1) { parts.append(.sectors((0..<count).map { mask >> $0 & 1 == 1 })) }
        } else {
            for place in 1..<max(count, 2) { parts.append(.sectors((0..<count).map { $0 < place })) }
            for _ in 0..<16 { parts.append(.sectors((0..<count).map { _ in random.next() & 1 == 1 })) }
        }
        return parts
    }

    private static func apply(_ change: Change, _ part: Part, to image: inout DiskImage) {
        if case .nothing = part { return }
        switch change {
        case .truncate(let node, let size): image.resize(node, to: size)
        case .names(let names): for entry in names { image.name(entry.name, in: entry.folder, leadsTo: entry.node) }
        case .write(let node, let offset, let bytes):
            switch part {
            case .nothing: break
            case .all: image.write(bytes[...], at: offset, of: node)
            case .length: image.write([], at: offset + bytes.count, of: node)
            case .sectors(let sectors):
                image.write([], at: offset + bytes.count, of: node)
                for (index, isWritten) in sectors.enumerated() where isWritten {
                    let start = index * sector
                    image.write(bytes[start..<min(start + sector, bytes.count)], at: offset + start, of: node)
                }
            }
        }
    }
}

/// Numbers that look random and are the same in each run (Steele, Lea and Flood, OOPSLA 2014).
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
