import Foundation

/// The store as it was at one moment, to begin each run from.
struct StoreCopy {
    private let path: String

    /// Copies the world's store.
    init() throws {
        path = try World.scratchFolder() + "/store"
        try Command.must("cp", "-a", Signet.store, path)
    }

    /// Puts it back; nobody may use the store meanwhile.
    func restore() throws {
        try Command.must("sh", "-euc", "rm -rf \(Signet.store); cp -a \(path) \(Signet.store)")
    }

    /// Where it lies.
    var folder: String { path }

    /// All that a store holds: names, and what is in the files.
    static func contents(of root: String = Signet.store) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isFolder) else { continue }
            contents[name] = isFolder.boolValue ? Data() : try Data(contentsOf: URL(fileURLWithPath: "\(root)/\(name)"))
        }
        return contents
    }
}
