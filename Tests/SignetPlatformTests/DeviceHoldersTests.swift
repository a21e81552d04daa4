import Foundation
import SignetPlatform
import SignetPolicy
import Testing

@Suite struct DeviceHoldersTests {
    private let place = ReaderPlace(
        bus: .usb, attachment: .fixed, path: Array("pci0000:00/0000:00:14.0/usb2/1.4".utf8))

    /// A machine with two buses on one controller, of two generations of USB, and a device at the same port of each.
    private func machine() throws -> CallerFactsTests.Machine {
        let machine = CallerFactsTests.Machine()
        let controller = "/sys/devices/pci0000:00/0000:00:14.0"
        for (bus, version, address) in [(3, " 2.00", 7), (4, " 3.10", 9)] {
            let hub = "\(controller)/usb\(bus)"
            let device = "\(hub)/\(bus)-1/\(bus)-1.4"
            try machine.put("\(hub)/version", version + "\n")
            try machine.put("\(device)/busnum", "\(bus)\n")
            try machine.put("\(device)/devnum", "\(address)\n")
            let folder = machine.root + "/sys/bus/usb/devices"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (name, target) in [("usb\(bus)", hub), ("\(bus)-1.4", device)] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/\(name)", withDestinationPath: "../../../.." + target)
            }
        }
        return machine
    }

    private func run(_ machine: CallerFactsTests.Machine, _ process: Int, _ program: String, opens: [String]) throws {
        let folder = "/proc/\(process)"
        try machine.put("\(folder)/stat", "\(process) (x) S 1 1 1 0 -1 4194560")
        try machine.put("\(folder)/fd/.keep", "")
        try FileManager.default.createSymbolicLink(
            atPath: "\(machine.root)\(folder)/exe", withDestinationPath: program)
        for (number, file) in opens.enumerated() {
            try FileManager.default.createSymbolicLink(
                atPath: "\(machine.root)\(folder)/fd/\(number)", withDestinationPath: file)
        }
    }

    private func holders(
        _ machine: CallerFactsTests.Machine, of place: ReaderPlace, within milliseconds: Int = 5000
    ) -> [String] {
        DeviceHolders(root: Array(machine.root.utf8)).names(of: place, within: milliseconds).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Catches the device of another bus, a name that only begins alike, and a program that is named twice.
    @Test func whoHasTheDeviceOpen() throws {
        let machine = try machine()
        try run(machine, 20, "/usr/libexec/fprintd", opens: ["/dev/null", "/dev/bus/usb/003/007"])
        try run(machine, 21, "/usr/libexec/fprintd", opens: ["/dev/bus/usb/003/007"])
        try run(machine, 22, "/usr/bin/qemu", opens: ["/dev/bus/usb/004/009"])
        try run(machine, 23, "/usr/bin/other", opens: ["/dev/bus/usb/003/0071", "/dev/bus/usb/003/070"])
        #expect(holders(machine, of: place) == ["fprintd"])
        let other = ReaderPlace(bus: .usb, attachment: .fixed, path: Array("pci0000:00/0000:00:14.0/usb3/1.4".utf8))
        #expect(holders(machine, of: other) == ["qemu"])
        let device = DeviceHolders(root: Array(machine.root.utf8))
        #expect(device.deviceFile(of: place) == Array("/dev/bus/usb/003/007".utf8))
        #expect(device.runs("fprintd") && !device.runs("fprint") && !device.runs("fprintd2"))
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
        let place = ReaderPlace(bus: .usb, attachment: .fixed, path: Array(path.utf8))
        #expect(DeviceHolders(root: Array(try machine().root.utf8)).deviceFile(of: place) == nil)
        let chip = ReaderPlace(bus: .spi, attachment: .fixed, path: self.place.path)
        #expect(DeviceHolders(root: Array(try machine().root.utf8)).deviceFile(of: chip) == nil)
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
        func link(_ kind: String, _ name: String, _ path: String) throws {
            try machine.put("/sys/devices/\(path)/dev", "153:0\n")
            let folder = "\(machine.root)/sys/class/\(kind)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(name)", withDestinationPath: "../../devices/\(path)")
        }
        try link("spidev", name, chip)
        for (number, hid) in hid.enumerated() {
            try link("hidraw", "hidraw\(number)", "\(Self.waker)/\(hid)/hidraw/hidraw\(number)")
        }
        return machine
    }

    /// Catches a chip at SPI that nobody ever has, whether by its own device file or by the one through which it is woken; and
    /// whoever has another chip or another HID device.
    @Test func whoHasAChipOpen() throws {
        let machine = try machine(hid: ["0003:046D:C52B.0001", "0018:04F3:3057.0002", "0018:06CB:CD8C.0003"])
        try run(machine, 20, "/usr/bin/spi", opens: ["/dev/null", "/dev/spidev0.0"])
        try run(machine, 21, "/usr/libexec/fprintd", opens: ["/dev/spidev0.0", "/dev/hidraw1"])
        try run(machine, 22, "/usr/bin/waker", opens: ["/dev/hidraw1"])
        try run(
            machine, 23, "/usr/bin/game", opens: ["/dev/hidraw0", "/dev/hidraw2", "/dev/hidraw10", "/dev/spidev0.1"])
        let place = ReaderPlace(bus: .spi, attachment: .fixed, path: Array(Self.chip.utf8))
        #expect(holders(machine, of: place).sorted() == ["fprintd", "spi", "waker"])
        let device = DeviceHolders(root: Array(machine.root.utf8))
        #expect(device.deviceFile(of: place) == Array("/dev/spidev0.0".utf8))
        #expect(device.deviceFiles(of: place) == [Array("/dev/spidev0.0".utf8), Array("/dev/hidraw1".utf8)])
    }

    /// Catches a chip of another maker to which the touchpad's HID device is counted.
    @Test func aChipThatIsWokenByNothing() throws {
        let chip = Self.chip.replacingOccurrences(of: "ELAN7001", with: "FPC1011")
        let machine = try machine(chip: chip, hid: ["0018:04F3:3057.0002"])
        try run(machine, 22, "/usr/bin/waker", opens: ["/dev/hidraw0"])
        let place = ReaderPlace(bus: .spi, attachment: .fixed, path: Array(chip.utf8))
        #expect(holders(machine, of: place).isEmpty)
        #expect(DeviceHolders(root: Array(machine.root.utf8)).deviceFile(of: place) == Array("/dev/spidev0.0".utf8))
    }

    /// Catches a path that leads to a device file although no such chip is there.
    @Test(arguments: [
        "", "spidev0.0", "/", "spidev/", "../../../dev/mem", "pci0000:00/spidev/spidev0.0",
        "pci0000:00/0000:00:1e.2/pxa2xx-spi.3/spi_master/spi0/spi-ELAN7001:00/spidev/spidev0.1",
        "pci0000:00/0000:00:1e.2/pxa2xx-spi.3/spi_master/spi0/spi-ELAN7001:00/spidev",
    ]) func noSuchChip(path: String) throws {
        let device = DeviceHolders(root: Array(try machine(hid: ["0018:04F3:3057.0001"]).root.utf8))
        for bus in [ReaderBus.spi, .usb, .virtual, .other] {
            let place = ReaderPlace(bus: bus, attachment: .fixed, path: Array(path.utf8))
            #expect(device.deviceFiles(of: place).isEmpty)
        }
    }
}
