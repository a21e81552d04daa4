import Foundation
import SignetEngine
import Testing

@testable import SignetPlatform

/// A print as libfprint serializes it: "FP3" and a little-endian GVariant of type `(issbymsmsia{sv}v)`.
struct FprintdPrint {
    var driver = "elan"
    var device = "0"
    var finger: UInt8 = 7
    var user: String? = "alice"
    /// 2026-11-29 as GLib counts days.
    var day: UInt32 = 739_949
    var data: [UInt8] = [1, 2, 3]
    var extensions: [UInt8] = []
    /// Whether the reader keeps it.
    var onReader = false

    var bytes: [UInt8] {
        var body: [UInt8] = [1, 0, 0, 0]
        var ends: [Int] = []
        for name in [driver, device] {
            body += Array(name.utf8) + [0]
            ends.append(body.count)
        }
        body += [onReader ? 1 : 0, finger]
        if let user { body += Array(user.utf8) + [0, 0] }
        ends += [body.count, body.count]
        while body.count % 4 != 0 { body.append(0) }
        body += (0..<4).map { UInt8(truncatingIfNeeded: day >> (8 * $0)) }
        while body.count % 8 != 0 { body.append(0) }
        body += extensions
        ends.append(body.count)
        while body.count % 8 != 0 { body.append(0) }
        body += data + [0] + Array("ay".utf8)
        let size = body.count + ends.count <= 255 ? 1 : 2
        for end in ends.reversed() { body += (0..<size).map { UInt8(truncatingIfNeeded: end >> (8 * $0)) } }
        return Array("FP3".utf8) + body
    }
}

/// A store as fprintd makes it, in a folder of the test's own.
final class FprintdFolder {
    let folder: TestFolder
    var root: String { folder.sub("fprint") }

    init() throws {
        folder = try TestFolder()
        mkdir(root, 0o700)
    }

    /// Writes a file, with the folders on the way to it.
    func put(_ path: String, _ bytes: [UInt8]) throws {
        let file = URL(fileURLWithPath: "\(root)/\(path)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try Data(bytes).write(to: file)
        chmod(file.path, 0o644)
    }

    /// alice's right index on a reader with the driver `elan`.
    func putAlice() throws { try put("alice/elan/0/7", FprintdPrint().bytes) }

    var store: FprintdStore { FprintdStore(root: Array(root.utf8), userName: alice) }

    /// The problems that are found, each with its path below the root.
    func problems() throws -> [String: FprintdProblem.Matter] {
        let found = try store.read()
        return Dictionary(
            uniqueKeysWithValues: found.problems.map { problem in
                (String(String(decoding: problem.path, as: UTF8.self).dropFirst(root.count)), problem.matter)
            })
    }

    /// How many prints are taken, whatever the others are.
    func count() throws -> Int { try store.read().set.entries.count }

    /// Why there is no enrollment set; nil where there is one.
    func fault() -> StoreError? {
        do throws(StoreError) {
            _ = try store.enrollmentSet()
            return nil
        } catch { return error }
    }

    func generation() throws -> UInt64 { try store.enrollmentSet().generation }
}
