import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform

extension SensorTests {
    /// A reader that another program has, fprintd most of all.
    @Suite struct BusyReaderTests {
        private static let identity = ReaderIdentity.plainVirtual

        private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

        /// A /proc with one process, which runs this program and has these files open.
        private func processes(_ stage: Stage, exe: String, files: [String], number: String = "42") throws -> [UInt8] {
            let folder = stage.folder + "/proc/\(number)"
            try FileManager.default.createDirectory(atPath: folder + "/fd", withIntermediateDirectories: true)
            #expect(symlink(exe, folder + "/exe") == 0)
            for (number, file) in files.enumerated() { #expect(symlink(file, "\(folder)/fd/\(number)") == 0) }
            return Self.bytes(stage.folder)
        }

        /// Waits for `begin` and `open`, as a helper does that says nothing unasked.
        private static let asked = "for request in 1 2; do dd bs=65536 count=1 <&3 > /dev/null 2>&1; done"

        /// A helper that answers each opening with a problem.
        private func failing(_ stage: Stage, _ problem: ReaderProblem) throws -> String {
            try stage.script("\(Self.asked)\nprintf '\(try escaped(.failed(problem)))' >&3\nexec sleep 30")
        }

        /// Opens the reader; answers the problem, the holder, and the seconds it took.
        private func open(
            _ sensor: inout SensorClient
        ) throws -> (problem: ReaderProblem?, holder: String?, seconds: Double) {
            guard let none = makeSet([], Self.identity, onReader: false) else { throw ReaderProblem.faulty }
            let start = Date()
            var problem: ReaderProblem?
            do throws(ReaderProblem) { _ = try sensor.open(Self.identity, for: none, gallery: []) } catch {
                problem = error
            }
            let holder = sensor.holder.map { String(decoding: $0, as: UTF8.self) }
            return (problem, holder, Date().timeIntervalSince(start))
        }

        /// Catches a reader that is called faulty or nobody's while fprintd has it, and a person who waits longer than a second.
        @Test(arguments: [ReaderProblem.busy, .faulty, .notPermitted]) func fprintdIsNamed(problem: ReaderProblem)
            throws
        {
            let stage = try Stage()
            var sensor = client(try failing(stage, problem))
            sensor.processes = try processes(
                stage, exe: "/usr/libexec/fprintd", files: ["/dev/null", "socket:[1]", "/dev/bus/usb/001/004"])
            let opened = try open(&sensor)
            #expect(opened.problem == .busy && opened.holder == "fprintd")
            #expect(opened.seconds > 0.4 && opened.seconds < 1, "\(opened.seconds)")
        }

        /// Catches a fault of the reader's own that is blamed on somebody, or waited for.
        @Test(arguments: [
            ("/usr/libexec/fprintd", ["/dev/null"]), ("/home/mallory/fprintd", ["/dev/bus/usb/001/004"]),
            ("/usr/bin/fprintd-verify", ["/dev/bus/usb/001/004"]), ("/usr/bin/qemu", ["/dev/bus/usb/001/004"]),
            ("/usr/libexec/fprintd", ["/tmp/dev/bus/usb/001/004"]),
        ]) func otherProgramsAreNotBlamed(exe: String, files: [String]) throws {
            let stage = try Stage()
            var sensor = client(try failing(stage, .faulty))
            sensor.processes = try processes(stage, exe: exe, files: files)
            let opened = try open(&sensor)
            #expect(opened.problem == .faulty && opened.holder == nil)
            #expect(opened.seconds < 0.4)
        }

        /// Catches a busy reader that is given up at once, though its holder is about to let go of it; and one that stays busy
        /// when it is free.
        @Test func aReaderThatIsFreedMeanwhileIsOpened() throws {
            let stage = try Stage()
            let opened = try [
                SensorEvent.reader(.plainVirtual), .opened(presence: [], others: []),
            ].map { "printf '\(try escaped($0))' >&3" }.joined(separator: "\n")
            let busy = "printf '\(try escaped(.failed(.busy)))' >&3"
            // Busy for the first two that ask.
            var sensor = client(
                try stage.script(
                    """
                    \(Self.asked)
                    echo >> '\(stage.folder)/asked'
                    if [ "$(wc -l < '\(stage.folder)/asked')" -gt 2 ]; then
                    \(opened)
                    else
                    \(busy)
                    fi
                    exec sleep 30
                    """))
            sensor.processes = Self.bytes(stage.folder)
            let outcome = try open(&sensor)
            #expect(outcome.problem == nil && outcome.holder == nil)
            #expect(outcome.seconds < 1)
        }

        /// Catches a search of /proc that follows what is no process, or ends at the first that cannot be looked at.
        @Test func oddProcesses() throws {
            let stage = try Stage()
            let root = Self.bytes(stage.folder)
            #expect(ReaderHolder.fprintd(root: root) == nil)
            _ = try processes(stage, exe: "/usr/libexec/fprintd", files: ["/dev/bus/usb/001/004"], number: "self")
            #expect(ReaderHolder.fprintd(root: root) == nil)
            try FileManager.default.createDirectory(
                atPath: stage.folder + "/proc/7", withIntermediateDirectories: true)
            #expect(ReaderHolder.fprintd(root: root) == nil)
            _ = try processes(stage, exe: "/usr/libexec/fprintd (deleted)", files: ["/dev/spidev0.0"], number: "9")
            #expect(ReaderHolder.fprintd(root: root) == Self.bytes("fprintd"))
        }
    }
}
