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

    private func holders(_ machine: CallerFactsTests.Machine, of place: ReaderPlace) -> [String] {
        DeviceHolders(root: Array(machine.root.utf8)).names(of: place).map { String(decoding: $0, as: UTF8.self) }
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
}
