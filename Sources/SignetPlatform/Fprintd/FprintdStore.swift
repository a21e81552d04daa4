internal import CPlatform
package import SignetEngine
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// What was found of one user in fprintd's store.
package struct FprintdPrints: ~Copyable {
    /// The prints, in the order of their paths; the generation is that of the store's `FprintdStamp`, 0 for no store.
    package let set: EnrollmentSet
    /// What was not taken, and why.
    package let problems: [FprintdProblem]

    /// Gives up the rest for the set.
    consuming func takeSet() -> EnrollmentSet { set }
}

/// fprintd's store, as one user's prints in it: `ROOT/USER/DRIVER/DEVICE_ID/FINGER`, read anew each time.
///
/// Nothing is followed, believed or kept open: each folder and file must be root's and writable by nobody else, each name
/// one that fprintd gives, and each print must say of itself what its path says. That is what fprintd checks, and that
/// the files are its own.
package struct FprintdStore: Sendable {
    /// The folder that fprintd's unit names (StateDirectory=fprint).
    package static var standardRoot: [UInt8] { Array("/var/lib/fprint".utf8) }

    /// The most readers of one driver, and the most drivers, that one person has used.
    private static let folderLimit = 16
    /// The most names in one reader's folder: ten fingers, and what a crash may have left of their files.
    private static let fileLimit = 64
    /// The most problems that are told.
    private static let problemLimit = 32

    private let root: [UInt8]
    private let userName: [UInt8]

    package init(root: [UInt8] = FprintdStore.standardRoot, userName: [UInt8]) {
        self.root = root
        self.userName = userName
    }

    /// The same store, for another user.
    func turned(to userName: [UInt8]) -> FprintdStore { FprintdStore(root: root, userName: userName) }

    /// The user's enrollment set, where all of the store is as it must be.
    package func enrollmentSet() throws(StoreError) -> EnrollmentSet {
        let found = try read()
        if let grave = found.problems.first(where: { $0.isGrave }) { throw grave.storeError }
        return found.takeSet()
    }

    /// What is there, and what was left out.
    package func read() throws(StoreError) -> FprintdPrints {
        guard let nothing = SecretBytes(count: 0),
            let empty = EnrollmentSet(generation: 0, entries: [], templates: nothing)
        else { throw .system(errno: ENOMEM) }
        var reading = Reading(userName: userName, set: empty)
        reading.read(root)
        return try reading.finished()
    }

    /// One way through the store.
    private struct Reading: ~Copyable {
        let userName: [UInt8]
        var set: EnrollmentSet
        var problems: [FprintdProblem] = []
        var stamp = FprintdStamp()
        var isEmpty = true

        init(userName: [UInt8], set: consuming EnrollmentSet) {
            self.userName = userName
            self.set = set
        }

        consuming func finished() throws(StoreError) -> FprintdPrints {
            let generation = isEmpty ? 0 : stamp.generation
            let problems = problems
            guard let set = set.numbered(generation) else { throw .system(errno: ENOMEM) }
            return FprintdPrints(set: set, problems: problems)
        }

        mutating func report(_ path: [UInt8], _ matter: FprintdProblem.Matter) {
            let problem = FprintdProblem(path, matter)
            // However many others there are: what could not be read now must not be taken for what is not there.
            guard problems.count < FprintdStore.problemLimit || problem.isShortage else { return }
            problems.append(problem)
        }

        /// A missing store, or a user who is not in it, is no problem.
        mutating func read(_ root: [UInt8]) {
            guard let name = FileName(userName) else { return }
            do throws(PathProblem) {
                let store = try SafePath.open(root, .folder)
                let path = root + slash(userName)
                let user = try SafePath.open(name, below: store, at: path, .folder)
                isEmpty = false
                readUser(user, at: path)
            } catch {
                if error.matter != .missing { problems.append(FprintdProblem(error)) }
            }
        }

        private mutating func readUser(_ user: borrowing FileDescriptor, at path: [UInt8]) {
            for driver in names(in: user, at: path, limit: FprintdStore.folderLimit) {
                let driverPath = path + slash(driver)
                guard FprintdName.isDriver(driver) else {
                    report(driverPath, .unknownName)
                    continue
                }
                guard let folder = open(driver, below: user, at: driverPath, .folder) else { continue }
                for device in names(in: folder, at: driverPath, limit: FprintdStore.folderLimit) {
                    let devicePath = driverPath + slash(device)
                    guard FprintdName.isDevice(device) else {
                        report(devicePath, .unknownName)
                        continue
                    }
                    guard let files = open(device, below: folder, at: devicePath, .folder) else { continue }
                    readPrints(files, at: devicePath, of: ReaderIdentity(driver: driver, device: device))
                }
            }
        }

        private mutating func readPrints(
            _ folder: borrowing FileDescriptor, at path: [UInt8], of reader: ReaderIdentity
        ) {
            for name in names(in: folder, at: path, limit: FprintdStore.fileLimit) {
                let filePath = path + slash(name)
                guard let finger = FprintdName.finger(name) else {
                    report(filePath, .unknownName)
                    continue
                }
                guard let file = open(name, below: folder, at: filePath, .file) else { continue }
                take(file, at: filePath, finger, reader)
            }
        }

        /// Takes one print, where it is what its path says.
        private mutating func take(
            _ file: borrowing FileDescriptor, at path: [UInt8], _ finger: Finger, _ reader: ReaderIdentity
        ) {
            guard let status = status(of: file, at: path) else { return }
            let size = Int(status.st_size)
            guard size > 0 else { return report(path, .notWhole) }
            guard size <= PrintEntry.templateLimit else { return report(path, .template(.tooLarge)) }
            guard var template = SecretBytes(count: size) else { return report(path, .path(.system(errno: ENOMEM))) }
            let count: Int
            do throws(FileFault) {
                count = try template.withMutableBytes { (target) throws(FileFault) in
                    try file.read(into: &target, at: 0)
                }
            } catch {
                return report(path, .path(SafePath.matter(error)))
            }
            guard count == size else { return report(path, .notWhole) }
            let facts: Facts
            do throws(PrintTemplateError) {
                facts = try template.withBytes { (bytes) throws(PrintTemplateError) in try Facts(bytes) }
            } catch {
                return report(path, .template(error))
            }
            guard facts.finger == finger else { return report(path, .otherFinger) }
            guard facts.userName == userName else { return report(path, .otherUser) }
            guard facts.reader == reader else { return report(path, .otherReader) }
            let print = EnrolledPrint(reader: reader, onReader: facts.isOnReader, template: template)
            guard set.entries.count < EnrollmentSet.limit else { return report(path, .tooMany) }
            // Noon, so that the day is the same one in most of the world's time zones.
            let enrolledAt = facts.day.map { Int64($0) * 86_400 + 43_200 } ?? Int64(status.st_mtim.tv_sec)
            guard let next = set.adding(print, as: finger, at: enrolledAt) else {
                return report(path, .path(.system(errno: ENOMEM)))
            }
            set = next
        }

        private mutating func open(
            _ name: [UInt8], below folder: borrowing FileDescriptor, at path: [UInt8], _ kind: SafePath.Kind
        ) -> FileDescriptor? {
            guard let name = FileName(name) else { return nil }
            do throws(PathProblem) { return try SafePath.open(name, below: folder, at: path, kind) } catch {
                report(error.path, .path(error.matter))
                return nil
            }
        }

        /// The names in a folder, in one fixed order; none of them where there are more than `limit`.
        private mutating func names(
            in folder: borrowing FileDescriptor, at path: [UInt8], limit: Int
        ) -> [[UInt8]] {
            guard status(of: folder, at: path) != nil else { return [] }
            let names: [[UInt8]]
            do throws(FileFault) { names = try SmallFile.names(in: folder, limit: limit) } catch {
                report(path, .path(SafePath.matter(error)))
                return []
            }
            guard names.count <= limit else {
                report(path, .tooMany)
                return []
            }
            return names.sorted { $0.lexicographicallyPrecedes($1) }
        }

        /// What the file system tells of it now, which becomes part of the stamp.
        private mutating func status(of file: borrowing FileDescriptor, at path: [UInt8]) -> stat? {
            do throws(FileFault) {
                let status = try file.status()
                stamp.add(status, at: path)
                return status
            } catch {
                report(path, .path(SafePath.matter(error)))
                return nil
            }
        }

        private func slash(_ name: [UInt8]) -> [UInt8] { [UInt8(ascii: "/")] + name }
    }
}

/// What a template says of itself; none of it is secret.
private struct Facts {
    let finger: Finger?
    let userName: [UInt8]?
    let reader: ReaderIdentity
    let isOnReader: Bool
    /// Days since 1970-01-01.
    let day: UInt32?

    init(_ bytes: Span<UInt8>) throws(PrintTemplateError) {
        let print = try PrintTemplate(bytes)
        finger = print.finger
        userName = print.userName(in: bytes)
        reader = print.reader(in: bytes)
        isOnReader = print.isStoredOnReader
        day = print.day
    }
}
