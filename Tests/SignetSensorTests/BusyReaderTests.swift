import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform

/// Device files, which are looked at and never opened.
enum DeviceFiles {
    /// Whether this process may make one.
    static let mayBeMade: Bool = {
        let path = NSTemporaryDirectory() + "signet-device-\(getpid())"
        defer { unlink(path) }
        return mknod(path, S_IFCHR | 0o600, 189 << 8 | 3) == 0
    }()

    static func make(_ file: String, _ major: dev_t, _ minor: dev_t) throws {
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try #require(mknod(file, S_IFCHR | 0o600, major << 8 | minor) == 0)
    }
}

extension SensorTests {
    /// A reader that another program has, fprintd most of all.
    @Suite(.enabled(if: DeviceFiles.mayBeMade, "device files cannot be made here (mknod(2))"))
    struct BusyReaderTests {
        private static let identity = ReaderIdentity.plainVirtual

        private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

        private static let place = ReaderPlace(
            bus: .usb, attachment: .fixed, path: bytes("pci0000:00/0000:00:14.0/usb2/4"))

        private func put(_ text: String, _ path: String) throws {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        }

        private static let spiPlace = ReaderPlace(
            bus: .spi, attachment: .fixed,
            path: bytes("pci0000:00/spi.3/spi_master/spi0/spi-ELAN7001:00/spidev/spidev0.0"))

        /// A chip at SPI, /dev/spidev0.0, and beside it the HID device through which it is woken, /dev/hidraw0.
        private func addChip(_ stage: Stage) throws {
            let chip = String(decoding: Self.spiPlace.path, as: UTF8.self)
            for (kind, name, path, major) in [
                ("spidev", "spidev0.0", chip, 153),
                ("hidraw", "hidraw0", "i2c-1/0018:04F3:3057.0001/hidraw/hidraw0", 240),
            ] {
                try put("\(major):0\n", stage.folder + "/sys/devices/\(path)/dev")
                let folder = stage.folder + "/sys/class/\(kind)"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                #expect(symlink("../../devices/\(path)", "\(folder)/\(name)") == 0)
                try DeviceFiles.make(stage.folder + "/dev/\(name)", dev_t(major), 0)
            }
        }

        /// A machine with a reader at /dev/bus/usb/001/004 and one process, which runs this program and has these files open.
        private func machine(_ stage: Stage, exe: String, files: [String]) throws -> [UInt8] {
            let hub = "/devices/pci0000:00/0000:00:14.0/usb1"
            try put(" 2.00\n", stage.folder + "/sys\(hub)/version")
            try put("189:3\n", stage.folder + "/sys\(hub)/1-4/dev")
            try DeviceFiles.make(stage.folder + "/dev/bus/usb/001/004", 189, 3)
            try DeviceFiles.make(stage.folder + "/dev/bus/usb/001/005", 189, 4)
            try put("no device", stage.folder + "/tmp/dev/bus/usb/001/004")
            let bus = stage.folder + "/sys/bus/usb/devices"
            try FileManager.default.createDirectory(atPath: bus, withIntermediateDirectories: true)
            #expect(symlink("../../..\(hub)", bus + "/usb1") == 0 && symlink("../../..\(hub)/1-4", bus + "/1-4") == 0)
            let folder = stage.folder + "/proc/42"
            try put("42 (x) S 1 1 1 0 -1 4194560", folder + "/stat")
            try FileManager.default.createDirectory(atPath: folder + "/fd", withIntermediateDirectories: true)
            #expect(symlink(exe, folder + "/exe") == 0)
            for (number, file) in files.enumerated() {
                let target = file.hasPrefix("/") ? stage.folder + file : file
                #expect(symlink(target, "\(folder)/fd/\(number)") == 0)
            }
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

        /// Catches a program that reads the touchpad for reasons of its own and turns every fault of the chip into "in use".
        @Test(
            arguments: [
                (.faulty, "/dev/hidraw0", .faulty, nil), (.notPermitted, "/dev/hidraw0", .notPermitted, nil),
                (.busy, "/dev/hidraw0", .busy, "fwupd"), (.faulty, "/dev/spidev0.0", .busy, "fwupd"),
            ] as [(ReaderProblem, String, ReaderProblem, String?)])
        func whoHasTheWaker(problem: ReaderProblem, file: String, told: ReaderProblem, holder: String?) throws {
            let stage = try Stage()
            var sensor = client(try failing(stage, problem))
            sensor.root = try machine(stage, exe: "/usr/libexec/fwupd", files: [file])
            try addChip(stage)
            let opened = try open(&sensor, at: Self.spiPlace)
            #expect(opened.problem == told && opened.holder == holder)
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
