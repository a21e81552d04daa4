import Glibc

/// What a program did to a folder and said to others, as `killer --trace` wrote it down (Tests/Tools/killer.c).
struct DiskTrace {
    /// A file or a folder, by its inode.
    typealias Node = UInt

    enum Step: Equatable {
        case create(in: Node, String, Node)
        case makeFolder(in: Node, String, Node)
        case write(Node, offset: Int, [UInt8])
        case truncate(Node, size: Int)
        /// fsync(2) or fdatasync(2).
        case sync(Node)
        case rename(from: Node, String, to: Node, String)
        case remove(from: Node, String)
        /// The comparison of a PIN begins.
        case compare
        /// Words to whoever watches.
        case tell([UInt8])
        /// A message to a helper or to the journal.
        case send([UInt8])
    }

    var steps: [Step]

    init(_ text: String) throws {
        steps = try text.split(separator: "\n").map(DiskTrace.step)
    }

    /// The number of steps before the first that tells this; all of them where none does.
    func place(of text: String) -> Int {
        let text = Array(text.utf8)
        return steps.firstIndex { step in
            guard case .tell(let bytes) = step, bytes.count >= text.count else { return false }
            return (0...(bytes.count - text.count)).contains { bytes[$0..<($0 + text.count)].elementsEqual(text) }
        } ?? steps.count
    }

    private static func step(_ line: Substring) throws -> Step {
        let words = line.split(separator: " ")
        func node(_ place: Int) throws -> Node {
            guard place < words.count, let number = Node(words[place]) else { throw HarnessError("trace: \(line)") }
            return number
        }
        func name(_ place: Int) throws -> String {
            guard place < words.count else { throw HarnessError("trace: \(line)") }
            return String(words[place])
        }
        func bytes(_ place: Int) throws -> [UInt8] {
            let digits = place < words.count ? words[place].compactMap(\.hexDigitValue) : []
            return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
        }
        switch try name(0) {
        case "create": return .create(in: try node(1), try name(2), try node(3))
        case "mkdir": return .makeFolder(in: try node(1), try name(2), try node(3))
        case "write": return .write(try node(1), offset: Int(try node(2)), try bytes(3))
        case "truncate": return .truncate(try node(1), size: Int(try node(2)))
        case "sync": return .sync(try node(1))
        case "rename": return .rename(from: try node(1), try name(2), to: try node(3), try name(4))
        case "unlink", "rmdir": return .remove(from: try node(1), try name(2))
        case "compare": return .compare
        case "out": return .tell(try bytes(1))
        case "send": return .send(try bytes(1))
        default: throw HarnessError("the store is written in a way that the checker does not know: \(line)")
        }
    }
}

/// The files below a folder, by inode, as they are or as they could be.
struct DiskImage {
    struct Content {
        var bytes: [UInt8] = []
        /// What a folder holds; nil for a file.
        var names: [String: DiskTrace.Node]?
    }

    private(set) var contents: [DiskTrace.Node: Content] = [:]
    private let top: DiskTrace.Node

    /// Reads what is there.
    init(of folder: String) throws {
        var status = stat()
        guard lstat(folder, &status) == 0 else { throw HarnessError("there is no \(folder)") }
        top = DiskTrace.Node(status.st_ino)
        try read(folder, top)
    }

    private mutating func read(_ path: String, _ node: DiskTrace.Node) throws {
        var names: [String: DiskTrace.Node] = [:]
        guard let folder = opendir(path) else { throw HarnessError("\(path) could not be read") }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name == "." || name == ".." { continue }
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0 else { throw HarnessError("\(path)/\(name) went away") }
            let inner = DiskTrace.Node(status.st_ino)
            names[name] = inner
            if status.st_mode & S_IFMT == S_IFDIR {
                try read("\(path)/\(name)", inner)
            } else {
                contents[inner] = Content(bytes: try File.bytes("\(path)/\(name)"))
            }
        }
        contents[node] = Content(names: names)
    }

    /// Lets a file or folder be there that has no name yet; a number that is used anew begins anew.
    mutating func make(_ node: DiskTrace.Node, isFolder: Bool) { contents[node] = Content(names: isFolder ? [:] : nil) }

    /// What a name leads to.
    func node(_ name: String, in folder: DiskTrace.Node) -> DiskTrace.Node? { contents[folder]?.names?[name] }

    /// Lets a name lead elsewhere, or nowhere.
    mutating func name(_ name: String, in folder: DiskTrace.Node, leadsTo node: DiskTrace.Node?) {
        contents[folder]?.names?[name] = node
    }

    /// Writes into a file, which grows where it must.
    mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int, of node: DiskTrace.Node) {
        resize(node, to: max(contents[node]?.bytes.count ?? 0, offset + bytes.count))
        contents[node]?.bytes.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    }

    /// Cuts a file off, or fills it up with zeros.
    mutating func resize(_ node: DiskTrace.Node, to size: Int) {
        let file = contents[node]?.bytes ?? []
        contents[node]?.bytes = file.prefix(size) + [UInt8](repeating: 0, count: max(0, size - file.count))
    }

    /// Writes it all below a new folder of root's alone.
    func write(to path: String) throws { try write(top, to: path) }

    private func write(_ node: DiskTrace.Node, to path: String) throws {
        guard let content = contents[node] else { throw HarnessError("nothing is known of \(path)") }
        guard let names = content.names else { return try File.write(content.bytes, to: path) }
        guard mkdir(path, 0o700) == 0 else { throw HarnessError("\(path) could not be made (errno \(errno))") }
        for (name, inner) in names { try write(inner, to: "\(path)/\(name)") }
    }

    /// The same as one value, to know again.
    var paths: [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        collect(top, "", &found)
        return found
    }

    private func collect(_ node: DiskTrace.Node, _ path: String, _ found: inout [String: [UInt8]]) {
        guard let content = contents[node] else { return }
        found[path] = content.bytes
        for (name, inner) in content.names ?? [:] { collect(inner, "\(path)/\(name)", &found) }
    }
}

extension File {
    /// A file's bytes.
    static func bytes(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw HarnessError("\(path) could not be read (errno \(errno))") }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count <= 0 { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// Makes a file of root's alone.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw HarnessError("\(path) could not be made (errno \(errno))") }
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw HarnessError("\(path): no write") }
    }
}
