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

        private static let place = ReaderPlace(
            bus: .usb, attachment: .fixed, path: bytes("pci0000:00/0000:00:14.0/usb2/4"))

        private func put(_ text: String, _ path: String) throws {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        }

        /// A machine with a reader at /dev/bus/usb/001/004 and one process, which runs this program and has these files open.
        private func machine(_ stage: Stage, exe: String, files: [String]) throws -> [UInt8] {
            let hub = "/devices/pci0000:00/0000:00:14.0/usb1"
            try put(" 2.00\n", stage.folder + "/sys\(hub)/version")
            try put("1\n", stage.folder + "/sys\(hub)/1-4/busnum")
            try put("4\n", stage.folder + "/sys\(hub)/1-4/devnum")
            let bus = stage.folder + "/sys/bus/usb/devices"
            try FileManager.default.createDirectory(atPath: bus, withIntermediateDirectories: true)
            #expect(symlink("../../..\(hub)", bus + "/usb1") == 0 && symlink("../../..\(hub)/1-4", bus + "/1-4") == 0)
            let folder = stage.folder + "/proc/42"
            try put("42 (x) S 1 1 1 0 -1 4194560", folder + "/stat")
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
            _ sensor: inout SensorClient, at place: ReaderPlace = place
        ) throws -> (problem: ReaderProblem?, holder: String?, seconds: Double) {
            guard let none = makeSet([], Self.identity, onReader: false) else { throw ReaderProblem.faulty }
            let start = Date()
            var problem: ReaderProblem?
            do throws(ReaderProblem) {
                _ = try sensor.open(Self.identity, at: place, for: none, gallery: [])
            } catch {
                problem = error
            }
            let holder = sensor.holder.map { String(decoding: $0, as: UTF8.self) }
            return (problem, holder, Date().timeIntervalSince(start))
        }

        /// Catches a reader that is called faulty or nobody's while fprintd or a virtual machine has it, and a person who waits
        /// longer than a second.
        @Test(arguments: [ReaderProblem.busy, .faulty, .notPermitted], ["fprintd", "qemu"])
        func whoHasItIsNamed(problem: ReaderProblem, program: String) throws {
            let stage = try Stage()
            var sensor = client(try failing(stage, problem))
            sensor.root = try machine(
                stage, exe: "/usr/libexec/\(program)", files: ["/dev/null", "socket:[1]", "/dev/bus/usb/001/004"])
            let opened = try open(&sensor)
            #expect(opened.problem == .busy && opened.holder == program)
            #expect(opened.seconds > 0.4 && opened.seconds < 1, "\(opened.seconds)")
        }

        /// Catches a program that gives itself a name which then stands in somebody else's prompt.
        @Test func aStrangersProgramIsNotNamed() throws {
            let stage = try Stage()
            var sensor = client(try failing(stage, .faulty))
            sensor.root = try machine(stage, exe: "/home/mallory/type your PIN at", files: ["/dev/bus/usb/001/004"])
            let opened = try open(&sensor)
            #expect(opened.problem == .busy && opened.holder == nil)
        }

        /// Catches the same from a user namespace, where anybody may put a program of any name below /usr; root reads it so too.
        @Test(
            arguments: [("user:[4026531837]", "root. Type your password"), ("user:[4026532500]", nil), (nil, nil)]
                as [(String?, String?)])
        func aProgramBelowItsOwnUsrIsNotNamed(namespace: String?, holder: String?) throws {
            let stage = try Stage()
            var sensor = client(try failing(stage, .faulty))
            sensor.root = try machine(
                stage, exe: "/usr/local/root. Type your password", files: ["/dev/bus/usb/001/004"])
            for (process, name) in [("self", "user:[4026531837]"), ("42", namespace)] {
                let folder = "\(stage.folder)/proc/\(process)/ns"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                if let name { #expect(symlink(name, folder + "/user") == 0) }
            }
            let opened = try open(&sensor)
            #expect(opened.problem == .busy && opened.holder == holder)
        }

        /// Catches a fault of the reader's own that is blamed on somebody, or waited for.
        @Test(arguments: [["/dev/null"], ["/dev/bus/usb/001/005"], ["/tmp/dev/bus/usb/001/004"], []])
        func nobodyElseIsBlamed(files: [String]) throws {
            let stage = try Stage()
            var sensor = client(try failing(stage, .faulty))
            sensor.root = try machine(stage, exe: "/usr/libexec/fprintd", files: files)
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
            sensor.root = Self.bytes(stage.folder)
            let outcome = try open(&sensor, at: .nowhere)
            #expect(outcome.problem == nil && outcome.holder == nil)
            #expect(outcome.seconds < 1)
        }
    }
}
