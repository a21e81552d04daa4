internal import CPlatform

/// Something among the users' folders of a store that is none of their records.
package struct StoreStray: Equatable, Sendable {
    package let path: [UInt8]
    package let matter: Matter

    package enum Matter: Equatable, Sendable {
        /// A file in a user's folder, or a link or the like: it goes with the records.
        case file
        /// A folder in a user's: it stays when the records go.
        case folder
        /// What is left of a user who was removed.
        case leftover
        /// Beside the users' folders.
        case unknown
    }

    package init(path: [UInt8], matter: Matter) {
        self.path = path
        self.matter = matter
    }
}

extension StoreInspection {
    /// What lies beside all users' records; in the order of the names.
    package static func strays(root: [UInt8]) -> [StoreStray] {
        let users = root + Array("/users".utf8)
        var found: [StoreStray] = []
        for name in sortedNames(in: users) {
            let path = users + [UInt8(ascii: "/")] + name
            if isNumber(name[...]) {
                found += strays(inFolder: path)
            } else {
                let isLeft = name.suffix(4).elementsEqual(".old".utf8) && isNumber(name.dropLast(4))
                found.append(StoreStray(path: path, matter: isLeft ? .leftover : .unknown))
            }
        }
        return found
    }

    /// What lies beside one user's records, or is left of them.
    package static func strays(root: [UInt8], uid: UInt32) -> [StoreStray] {
        let folder = root + Array("/users/\(uid)".utf8)
        let old = folder + Array(".old".utf8)
        return strays(inFolder: folder) + (look(old) == nil ? [] : [StoreStray(path: old, matter: .leftover)])
    }

    private static func strays(inFolder folder: [UInt8]) -> [StoreStray] {
        let ours = (FileName.records + FileName.records.map { $0.temporary } + [.lock]).map { slash($0) }
        return sortedNames(in: folder).compactMap { name in
            let name = [UInt8(ascii: "/")] + name
            guard let status = look(folder + name) else { return nil }
            if signet_is_directory(status.st_mode) != 0 { return StoreStray(path: folder + name, matter: .folder) }
            return ours.contains(name) ? nil : StoreStray(path: folder + name, matter: .file)
        }
    }

    private static func sortedNames(in path: [UInt8]) -> [[UInt8]] {
        SmallFile.names(in: path).sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func isNumber(_ name: ArraySlice<UInt8>) -> Bool {
        !name.isEmpty && name.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }
}
