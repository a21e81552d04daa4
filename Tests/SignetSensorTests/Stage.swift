import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// All tests of the reader helper, one at a time: some look at the descriptors and signals of the whole process.
@Suite(.serialized, .enabled(if: Stage.obstacle == nil, Comment(rawValue: Stage.obstacle ?? "")))
enum SensorTests {}

/// A folder that root alone may write, for helpers of a test; it lies beside the helper, since /tmp is everybody's.
final class Stage {
    let folder: String
    /// Sockets have short paths.
    let socketFolder: String

    static let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The real helper, with all links resolved, at a path that is root's alone; nil where it is not built.
    ///
    /// In a checkout that others may write above (below /tmp, say), a copy in /run stands in, which goes with the process.
    static let helper: String? = {
        let build = ProcessInfo.processInfo.environment["SIGNET_BUILD"] ?? packageRoot + "/.build/debug"
        guard let built = realpath(build + "/signet-sensor", nil) else { return nil }
        defer { free(built) }
        let path = String(cString: built)
        if unsafeComponent(of: path) == nil || geteuid() != 0 { return path }
        let copy = copyFolder + "/signet-sensor"
        try? FileManager.default.createDirectory(atPath: copyFolder, withIntermediateDirectories: false)
        chmod(copyFolder, 0o755)
        guard (try? FileManager.default.copyItem(atPath: path, toPath: copy)) != nil else { return path }
        atexit { try? FileManager.default.removeItem(atPath: Stage.copyFolder) }
        return copy
    }()

    private static let copyFolder = "/run/signet-sensor-tests-\(getpid())"

    /// The first component, from the end, that is not root's alone.
    private static func unsafeComponent(of path: String) -> String? {
        var path = path
        while path != "/" {
            var about = stat()
            guard lstat(path, &about) == 0, about.st_uid == 0, about.st_mode & 0o022 == 0 else { return path }
            path = (path as NSString).deletingLastPathComponent
        }
        return nil
    }

    /// Why the tests cannot run here, or nil.
    static let obstacle: String? = {
        if geteuid() != 0 { return "needs root: a helper must belong to root" }
        guard let helper else { return "signet-sensor is not built" }
        return unsafeComponent(of: helper).map { "\($0) is not root's alone" }
    }()

    init() throws {
        let parent = URL(fileURLWithPath: Stage.helper ?? "/nonexistent/x").deletingLastPathComponent().path
        folder = parent + "/sensor-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        chmod(folder, 0o755)
        var template = Array("/tmp/signet-XXXXXX\0".utf8CString)
        socketFolder = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? "/nonexistent"
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
        try? FileManager.default.removeItem(atPath: socketFolder)
    }

    var socketPath: String { socketFolder + "/s" }
    var pidPath: String { folder + "/pid" }

    /// Writes an executable shell script; answers its path.
    func script(_ lines: String, mode: mode_t = 0o755, name: String = "helper") throws -> String {
        let path = folder + "/" + name
        let text = "#!/bin/sh\necho $$ > '\(pidPath)'\n" + lines + "\n"
        try text.write(toFile: path + ".text", atomically: false, encoding: .utf8)
        // A copy by another process: a child that any test of this one starts just now would hold the script open for
        // writing, and such a script cannot be executed (ETXTBSY of execve(2)).
        let copy = try Process.run(URL(fileURLWithPath: "/bin/cp"), arguments: [path + ".text", path])
        copy.waitUntilExit()
        chmod(path, mode)
        return path
    }

    /// A helper that speaks with one of libfprint's virtual readers.
    func virtual(_ variable: String, arguments: String = "--allow-virtual") throws -> String {
        try script("export \(variable)='\(socketPath)'\nexec '\(Stage.helper ?? "")' \(arguments)")
    }

    /// The helper's pid, which the script has written before anything else.
    func pid() -> pid_t {
        for _ in 0..<500 {
            if let text = try? String(contentsOfFile: pidPath, encoding: .utf8), text.hasSuffix("\n"),
                let pid = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))
            {
                return pid
            }
            usleep(10_000)
        }
        return -1
    }
}

/// Whether a helper's process has ended; init may take a moment to reap it, and the kernel to take its memory back.
func isGone(_ pid: pid_t) -> Bool {
    for _ in 0..<400 {
        if kill(pid, 0) != 0 { return true }
        // "pid (name) state …" of proc_pid_stat(5)
        let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        if let end = stat.lastIndex(of: ")"), stat[end...].hasPrefix(") Z") { return true }
        usleep(5000)
    }
    return false
}

/// Octal escapes for printf(1) that write one event as one packet.
func escaped(_ event: SensorEvent) throws -> String {
    var memory = [UInt8](repeating: 0, count: 4096)
    var span = memory.mutableSpan
    let length = try event.encode(into: &span)
    return memory[..<length].map { "\\" + String($0, radix: 8).leftPadded(3) }.joined()
}

extension String {
    func leftPadded(_ length: Int) -> String { String(repeating: "0", count: max(0, length - count)) + self }
}

/// `claims` is a folder below the stage's, for no test touches /run; nil: readers are not claimed.
func client(_ path: String, openSeconds: Int = 20, claims: String? = nil) -> SensorClient {
    SensorClient(helper: Array(path.utf8), openSeconds: openSeconds, claims: claims.map { Array($0.utf8) })
}

/// Runs `body` on a thread of its own, while the test's thread waits for the reader; `join` waits for its end.
final class Background: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [done] in
            body()
            done.signal()
        }
    }

    func join() { _ = done.wait(timeout: .now() + 30) }
}

/// A set of prints that all belong to one reader, from the templates of enrollments.
func makeSet(_ templates: [[UInt8]], _ reader: ReaderIdentity, onReader: Bool) -> EnrollmentSet? {
    var entries: [PrintEntry] = []
    var all: [UInt8] = []
    for (index, template) in templates.enumerated() {
        guard let finger = Finger(number: UInt8(index + 1)) else { return nil }
        let place = all.count..<all.count + template.count
        entries.append(
            PrintEntry(finger: finger, reader: reader, onReader: onReader, enrolledAt: 0, template: place))
        all += template
    }
    guard let secret = SecretBytes(copying: all.span) else { return nil }
    return EnrollmentSet(generation: 1, entries: entries, templates: secret)
}

extension SecretBytes {
    /// The bytes as an array, for tests only.
    borrowing func copied() -> [UInt8] { withBytes { span in (0..<span.count).map { span[$0] } } }
}

extension ReaderIdentity {
    /// libfprint's virtual reader that keeps prints on the host.
    static let plainVirtual = ReaderIdentity(driver: Array("virtual_device".utf8), device: Array("0".utf8))
}

extension ReaderDescription {
    /// The same as a stand-in tells it.
    static let plainVirtual = ReaderDescription(
        identity: .plainVirtual, place: .virtual, name: [97], stages: 5, swipes: false, identifies: true,
        storesPrints: false, listsPrints: false)
}

extension Stage {
    /// A script that sends these events one after the other and then does `ending`.
    func standIn(_ events: [SensorEvent], _ ending: String = "exec sleep 30") throws -> String {
        let lines = try events.map { "printf '\(try escaped($0))' >&3" }
        return try script((lines + [ending]).joined(separator: "\n"))
    }
}

/// Enrolls the named fingers at libfprint's virtual reader that can only verify; answers their templates.
func plainTemplates(of names: [String]) throws -> [[UInt8]] {
    let stage = try Stage()
    let reader = VirtualReader(path: stage.socketPath)
    var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
    guard let none = makeSet([], ReaderIdentity.plainVirtual, onReader: false), let finger = Finger(number: 7) else {
        return []
    }
    _ = try sensor.open(ReaderIdentity.plainVirtual, for: none, gallery: [])
    var result: [[UInt8]] = []
    for name in names {
        let scans = Background { reader.send([String](repeating: "SCAN \(name)", count: 5)) }
        let print = try sensor.enroll(finger, userName: Array("tester".utf8)) { _ in }
        scans.join()
        guard let print else { throw ReaderProblem.faulty }
        let onReader = print.onReader
        #expect(!onReader)
        result.append(print.template.copied())
    }
    sensor.stopListening()
    return result
}
