import Foundation
import SignetPolicy
import Testing

@testable import SignetPlatform

/// What a test of device files needs of the machine.
private enum DeviceFiles {
    /// Whether this process may make one; they are looked at and never opened.
    static let mayBeMade: Bool = {
        let path = NSTemporaryDirectory() + "signet-device-\(UUID().uuidString)"
        defer { unlink(path) }
        return mknod(path, S_IFCHR | 0o600, number(189, 258)) == 0
    }()

    /// makedev(3), which is a macro.
    static func number(_ major: Int, _ minor: Int) -> dev_t {
        dev_t(major & 0xFFF) << 8 | dev_t(minor & 0xFF) | dev_t(minor & ~0xFF) << 12
    }

    /// Whether an unprivileged namespace with a /dev of its own can be made.
    static let mayBeHidden: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = [
            "--user", "--map-root-user", "--mount", "/bin/sh", "-c", "mount -t tmpfs none /dev",
        ]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}

@Suite(.enabled(if: DeviceFiles.mayBeMade, "device files cannot be made here (mknod(2))")) struct DeviceHoldersTests {
    private let place = ReaderPlace(
        bus: .usb, attachment: .fixed, path: Array("pci0000:00/0000:00:14.0/usb2/1.4".utf8))

    private func makeNode(_ machine: CallerFactsTests.Machine, _ path: String, _ major: Int, _ minor: Int) throws {
        let file = machine.root + path
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try #require(mknod(file, S_IFCHR | 0o600, DeviceFiles.number(major, minor)) == 0)
    }

    /// A machine with two buses on one controller, of two generations of USB, and a device at the same port of each.
    private func machine() throws -> CallerFactsTests.Machine {
        let machine = CallerFactsTests.Machine()
        let controller = "/sys/devices/pci0000:00/0000:00:14.0"
        for (bus, version, address) in [(3, " 2.00", 7), (4, " 3.10", 9)] {
            let hub = "\(controller)/usb\(bus)"
            let device = "\(hub)/\(bus)-1/\(bus)-1.4"
            try machine.put("\(hub)/version", version + "\n")
            // 128 addresses a bus (Linux, admin-guide/devices.txt).
            let minor = (bus - 1) * 128 + address - 1
            try machine.put("\(device)/dev", "189:\(minor)\n")
            try makeNode(machine, "/dev/bus/usb/00\(bus)/00\(address)", 189, minor)
            let folder = machine.root + "/sys/bus/usb/devices"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (name, target) in [("usb\(bus)", hub), ("\(bus)-1.4", device)] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/\(name)", withDestinationPath: "../../../.." + target)
            }
        }
        return machine
    }

    /// A process that has these of the machine's files open.
    private func run(_ machine: CallerFactsTests.Machine, _ process: Int, _ program: String, opens: [String]) throws {
        let folder = "/proc/\(process)"
        try machine.put("\(folder)/stat", "\(process) (x) S 1 1 1 0 -1 4194560")
        try machine.put("\(folder)/fd/.keep", "")
        try FileManager.default.createSymbolicLink(
            atPath: "\(machine.root)\(folder)/exe", withDestinationPath: program)
        for (number, file) in opens.enumerated() {
            try FileManager.default.createSymbolicLink(
                atPath: "\(machine.root)\(folder)/fd/\(number)", withDestinationPath: machine.root + file)
        }
    }

    private func holders(
        _ machine: CallerFactsTests.Machine, of place: ReaderPlace, within milliseconds: Int = 5000
    ) -> [String] {
        DeviceHolders(root: Array(machine.root.utf8)).names(of: place, within: milliseconds).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Catches the device of another bus, or of the same minor or major number, and a program that is named twice.
    @Test func whoHasTheDeviceOpen() throws {
        let machine = try machine()
        try makeNode(machine, "/dev/other-major", 180, 262)
        try makeNode(machine, "/dev/other-minor", 189, 6)
        try run(machine, 20, "/usr/libexec/fprintd", opens: ["/dev/null", "/dev/bus/usb/003/007"])
        try run(machine, 21, "/usr/libexec/fprintd", opens: ["/dev/bus/usb/003/007"])
        try run(machine, 22, "/usr/bin/qemu", opens: ["/dev/bus/usb/004/009"])
        try run(machine, 23, "/usr/bin/other", opens: ["/dev/other-major", "/dev/other-minor"])
        #expect(holders(machine, of: place) == ["fprintd"])
        let other = ReaderPlace(bus: .usb, attachment: .fixed, path: Array("pci0000:00/0000:00:14.0/usb3/1.4".utf8))
        #expect(holders(machine, of: other) == ["qemu"])
        let device = DeviceHolders(root: Array(machine.root.utf8))
        #expect(device.runs("fprintd") && !device.runs("fprint") && !device.runs("fprintd2"))
    }

    /// Catches a search of all processes where nobody has the reader, and one that is left out where somebody has.
    @Test func theKernelSaysWhetherAProgramDrivesIt() throws {
        let machine = try machine()
        let device = DeviceHolders(root: Array(machine.root.utf8))
        let other = ReaderPlace(bus: .usb, attachment: .fixed, path: Array("pci0000:00/0000:00:14.0/usb3/1.4".utf8))
        for (interface, driver) in [("3-1.4:1.0", "usbhid"), ("3-1.4:1.1", "usbfs")] {
            #expect(!device.isDriven(place))
            let folder = "\(machine.root)/sys/devices/pci0000:00/0000:00:14.0/usb3/3-1/3-1.4/\(interface)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            #expect(!device.isDriven(place), "an interface without a driver")
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/driver", withDestinationPath: "../../../../../../../bus/usb/drivers/\(driver)")
        }
        #expect(device.isDriven(place) && !device.isDriven(other) && !device.isDriven(.virtual))
    }

    /// Catches a holder by the name of its file: whoever has a /dev of their own has files of any name in it; and one who is
    /// passed over because the device has another name where they live.
    @Test func namesProveNothing() throws {
        let machine = try machine()
        try FileManager.default.moveItem(
            atPath: machine.root + "/dev/bus/usb/003/007", toPath: machine.root + "/dev/elsewhere")
        try machine.put("/dev/bus/usb/003/007", "a file")
        #expect(mkfifo(machine.root + "/dev/pipe", 0o600) == 0)
        try #require(mknod(machine.root + "/dev/block", S_IFBLK | 0o600, DeviceFiles.number(189, 262)) == 0)
        try run(machine, 20, "/usr/bin/python3", opens: ["/dev/bus/usb/003/007", "/dev/pipe", "/dev/block"])
        try FileManager.default.createSymbolicLink(
            atPath: machine.root + "/proc/20/fd/7", withDestinationPath: "/dev/bus/usb/003/007")
        #expect(holders(machine, of: place).isEmpty)
        try run(machine, 21, "/usr/bin/qemu", opens: ["/dev/elsewhere"])
        #expect(holders(machine, of: place) == ["qemu"])
    }

    /// Catches a program that calls itself fprintd, or takes an installed one's name away from it.
    @Test func aStrangersProgramIsNotNamed() throws {
        let machine = try machine()
        try run(machine, 20, "/home/mallory/fprintd", opens: ["/dev/bus/usb/003/007"])
        try run(machine, 21, "/opt/mallory/fprintd", opens: ["/dev/bus/usb/003/007"])
        #expect(holders(machine, of: place) == ["a program"])
        try run(machine, 22, "/usr/libexec/fprintd", opens: ["/dev/bus/usb/003/007"])
        #expect(holders(machine, of: place).sorted() == ["a program", "fprintd"])
    }

    /// Catches somebody who may only read the device, or not even that, and is taken for one who drives it.
    @Test func onlyWhoMayWriteHoldsIt() throws {
        // The kernel's own list of this process's files: a made-up link has no mode of opening.
        let machine = CallerFactsTests.Machine()
        try FileManager.default.createDirectory(atPath: machine.root, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: machine.root + "/proc", withDestinationPath: "/proc")
        // Everybody has it and hardly anybody opens it; a terminal's number comes again in each other devpts.
        let device = "/dev/full"
        var about = stat()
        try #require(lstat(device, &about) == 0)
        try put(machine, numbers: "\(about.st_rdev >> 8 & 0xFFF):\(about.st_rdev & 0xFF)")
        for (mode, holds) in [(O_RDONLY, false), (0o10000000 /* O_PATH */, false), (O_WRONLY, true), (O_RDWR, true)] {
            let file = open(device, mode | O_CLOEXEC)
            try #require(file >= 0)
            defer { close(file) }
            #expect(holders(machine, of: place).isEmpty != holds, "\(mode)")
        }
    }

    /// Catches the same with a real process: a file called as the reader's in a mount namespace that anybody can make.
    @Test(.enabled(if: DeviceFiles.mayBeHidden, "user namespaces cannot be made here (unshare(1))"))
    func aFolderOfDevicesOfTheirOwn() throws {
        let machine = CallerFactsTests.Machine()
        try FileManager.default.createDirectory(atPath: machine.root, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: machine.root + "/proc", withDestinationPath: "/proc")
        try put(machine, numbers: "189:262")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = [
            "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
            "mount -t tmpfs none /dev && mkdir -p /dev/bus/usb/003 && exec 7<> /dev/bus/usb/003/007 && echo ready && read x",
        ]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
        try #require(output.fileHandleForReading.availableData == Data("ready\n".utf8))
        let link = "/proc/\(process.processIdentifier)/fd/7"
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/dev/bus/usb/003/007")
        #expect(holders(machine, of: place).isEmpty)
    }

    /// The reader of `place` with the numbers of some other device.
    private func put(_ machine: CallerFactsTests.Machine, numbers: String) throws {
        let hub = "/sys/devices/pci0000:00/0000:00:14.0/usb3"
        try machine.put("\(hub)/version", " 2.00\n")
        try machine.put("\(hub)/3-1/3-1.4/dev", numbers + "\n")
        let folder = machine.root + "/sys/bus/usb/devices"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, target) in [("usb3", hub), ("3-1.4", hub + "/3-1/3-1.4")] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(name)", withDestinationPath: "../../../.." + target)
        }
    }

    /// Catches a search that follows what is no process, or ends at the first that cannot be looked at.
    @Test func oddProcesses() throws {
        let machine = try machine()
        try machine.put("/proc/self/fd/.keep", "")
        try machine.put("/proc/7/fd/.keep", "")
        #expect(holders(machine, of: place).isEmpty)
        try run(machine, 9, "/usr/libexec/fprintd (deleted)", opens: ["/dev/bus/usb/003/007"])
        #expect(holders(machine, of: place) == ["fprintd"])
    }

    /// Catches a place that names another controller or port and finds a device all the same.
    @Test(arguments: [
        "pci0000:00/0000:00:15.0/usb2/1.4", "pci0000:00/0000:00:14.0/usb2/1.3", "pci0000:00/0000:00:14.0/usb1/1.4",
        "0000:00:14.0/usb2/1.4x", "", "usb2/1.4", "1.4",
    ]) func nobodyElsewhere(path: String) throws {
        let machine = try machine()
        try run(machine, 20, "/usr/bin/qemu", opens: ["/dev/bus/usb/003/007", "/dev/bus/usb/004/009"])
        #expect(holders(machine, of: place) == ["qemu"])
        #expect(holders(machine, of: ReaderPlace(bus: .usb, attachment: .fixed, path: Array(path.utf8))).isEmpty)
        let chip = ReaderPlace(bus: .spi, attachment: .fixed, path: self.place.path)
        #expect(holders(machine, of: chip).isEmpty)
    }

    /// Catches numbers of a device that are read as others.
    @Test(arguments: [
        "", ":", "189", "189:", ":262", "x189:262", "189:262x", "-189:262", "189:262:1", "4294967485:262",
    ])
    func damagedNumbers(text: String) throws {
        let machine = try machine()
        try run(machine, 20, "/usr/bin/qemu", opens: ["/dev/bus/usb/003/007"])
        let file = "/sys/devices/pci0000:00/0000:00:14.0/usb3/3-1/3-1.4/dev"
        try machine.put(file, text)
        #expect(holders(machine, of: place).isEmpty)
        try machine.put(file, "189:262")
        #expect(holders(machine, of: place) == ["qemu"])
    }

    /// Catches a folder of very many names that is listed to its end after the time is over.
    @Test func listingEndsInTime() throws {
        let machine = CallerFactsTests.Machine()
        for number in 0..<100 { try machine.put("/proc/\(number)/stat", "") }
        let folder = Array((machine.root + "/proc").utf8)
        #expect(SmallFile.names(in: folder, until: Deadline(seconds: 60)).count == 100)
        #expect(SmallFile.names(in: folder, until: Deadline(milliseconds: -1)).count <= 1)
    }

    /// Catches somebody who keeps others waiting by one process with very many descriptors.
    @Test func aProcessWithManyDescriptors() throws {
        let machine = try machine()
        try run(machine, 20, "/usr/bin/many", opens: [])
        let folder = "\(machine.root)/proc/20/fd"
        for number in 0..<60_000 { symlink("/dev/null", "\(folder)/\(number)") }
        let clock = ContinuousClock()
        let took = clock.measure { #expect(holders(machine, of: place, within: 50).isEmpty) }
        #expect(took < .milliseconds(300), "\(took)")
    }

    // MARK: SPI

    private static let chip = "pci0000:00/0000:00:1e.2/pxa2xx-spi.3/spi_master/spi0/spi-ELAN7001:00/spidev/spidev0.0"
    private static let waker = "pci0000:00/0000:00:15.1/i2c_designware.1/i2c-1/i2c-ELAN1300:00"

    /// A machine with this chip at SPI, and a HID device of each of these names: bus, vendor, product, number.
    private func machine(chip: String = chip, at name: String = "spidev0.0", hid: [String]) throws
        -> CallerFactsTests.Machine
    {
        let machine = CallerFactsTests.Machine()
        func link(_ kind: String, _ name: String, _ path: String, _ major: Int, _ minor: Int) throws {
            try machine.put("/sys/devices/\(path)/dev", "\(major):\(minor)\n")
            try makeNode(machine, "/dev/\(name)", major, minor)
            let folder = "\(machine.root)/sys/class/\(kind)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(name)", withDestinationPath: "../../devices/\(path)")
        }
        try link("spidev", name, chip, 153, 0)
        for (number, hid) in hid.enumerated() {
            try link("hidraw", "hidraw\(number)", "\(Self.waker)/\(hid)/hidraw/hidraw\(number)", 240, number)
        }
        return machine
    }

    private func holdersWithWakers(_ machine: CallerFactsTests.Machine, of place: ReaderPlace) -> [String] {
        DeviceHolders(root: Array(machine.root.utf8)).holders(of: place, wakers: true, within: 5000).map {
            String(decoding: $0.words, as: UTF8.self)
        }
    }

    /// Catches a chip at SPI that nobody ever has; whoever has another chip; and a program that has the touchpad's HID
    /// device open for reasons of its own, and is told before the one that has the chip, or unasked.
    @Test func whoHasAChipOpen() throws {
        let machine = try machine(hid: ["0003:046D:C52B.0001", "0018:04F3:3057.0002", "0018:06CB:CD8C.0003"])
        try makeNode(machine, "/dev/spidev0.1", 153, 1)
        try run(machine, 22, "/usr/libexec/fwupd", opens: ["/dev/hidraw1"])
        try run(machine, 23, "/usr/bin/game", opens: ["/dev/hidraw0", "/dev/hidraw2", "/dev/spidev0.1"])
        let place = ReaderPlace(bus: .spi, attachment: .fixed, path: Array(Self.chip.utf8))
        #expect(holders(machine, of: place).isEmpty)
        #expect(holdersWithWakers(machine, of: place) == ["fwupd"])
        for (process, program) in [(20, "/usr/bin/spi"), (40, "/usr/bin/spi")] {
            try run(machine, process, program, opens: ["/dev/null", "/dev/spidev0.0"])
        }
        try run(machine, 21, "/usr/libexec/fprintd", opens: ["/dev/hidraw1", "/dev/spidev0.0"])
        #expect(holders(machine, of: place).sorted() == ["fprintd", "spi"])
        let all = holdersWithWakers(machine, of: place)
        #expect(all.sorted() == ["fprintd", "fwupd", "spi"] && all.last == "fwupd")
    }

    /// Catches a chip of another maker to which the touchpad's HID device is counted.
    @Test func aChipThatIsWokenByNothing() throws {
        let chip = Self.chip.replacingOccurrences(of: "ELAN7001", with: "FPC1011")
        let machine = try machine(chip: chip, hid: ["0018:04F3:3057.0002"])
        try run(machine, 22, "/usr/bin/waker", opens: ["/dev/hidraw0"])
        let place = ReaderPlace(bus: .spi, attachment: .fixed, path: Array(chip.utf8))
        #expect(holdersWithWakers(machine, of: place).isEmpty)
        try run(machine, 23, "/usr/bin/spi", opens: ["/dev/spidev0.0"])
        #expect(holdersWithWakers(machine, of: place) == ["spi"])
    }

    /// Catches a path that leads to a device although no such chip is there.
    @Test(arguments: [
        "", "spidev0.0", "/", "spidev/", "../../../dev/mem", "pci0000:00/spidev/spidev0.0",
        "pci0000:00/0000:00:1e.2/pxa2xx-spi.3/spi_master/spi0/spi-ELAN7001:00/spidev/spidev0.1",
        "pci0000:00/0000:00:1e.2/pxa2xx-spi.3/spi_master/spi0/spi-ELAN7001:00/spidev",
    ]) func noSuchChip(path: String) throws {
        let machine = try machine(hid: ["0018:04F3:3057.0001"])
        try run(machine, 20, "/usr/bin/all", opens: ["/dev/spidev0.0", "/dev/hidraw0"])
        for bus in [ReaderBus.spi, .usb, .virtual, .other] {
            let place = ReaderPlace(bus: bus, attachment: .fixed, path: Array(path.utf8))
            #expect(holdersWithWakers(machine, of: place).isEmpty)
        }
    }
}
