internal import CPlatform
package import SignetPolicy

/// Who has a reader's device open: fprintd, a virtual machine, another prompt's helper.
///
/// libfprint and the kernel say only "busy". Root sees everybody's descriptors under /proc, so this can say who; nothing
/// is opened or asked for it.
package struct DeviceHolders {
    private let root: [UInt8]
    /// So many descriptors of one process are looked at: who has a reader has few, and others may have half a million.
    private static let descriptorLimit = 4096

    /// `root` is put before /sys and /proc, for tests.
    package init(root: [UInt8] = []) { self.root = root }

    /// Programs that have the reader at `place` open, each once, as people know them: "fprintd", "qemu on pts/3".
    ///
    /// `wakers` counts those too that only have the HID device open through which a chip at SPI is woken: they come last,
    /// since others have it for reasons of their own, and it is nobody's alone. Empty where nobody has the reader, and
    /// where the place has no device. The search ends after some milliseconds: a user with many open files must not keep
    /// others waiting.
    func holders(of place: ReaderPlace, wakers: Bool = false, within milliseconds: Int) -> [ReaderHolder] {
        guard let own = device(of: place) else { return [] }
        let beside = wakers ? self.wakers(of: place) : []
        let deadline = Deadline(milliseconds: milliseconds)
        var first: [ReaderHolder] = []
        var last: [ReaderHolder] = []
        for name in SmallFile.names(in: path("/proc"), until: deadline) {
            if deadline.hasPassed { break }
            guard let process = number(name[...]) else { continue }
            let opened = opened(by: name, among: [own] + beside, until: deadline)
            guard !opened.isEmpty, let holder = ReaderHolder(process: Int32(clamping: process), root: root) else {
                continue
            }
            if opened.contains(own) {
                DeviceHolders.add(holder, to: &first)
            } else {
                last.append(holder)
            }
        }
        for holder in last { DeviceHolders.add(holder, to: &first) }
        return first
    }

    /// A stranger's program may have the name of an installed one, and takes nothing away from it.
    private static func add(_ holder: ReaderHolder, to list: inout [ReaderHolder]) {
        if list.contains(where: { $0.words == holder.words && $0.isInstalled == holder.isInstalled }) { return }
        list.append(holder)
    }

    /// Which of the devices a process has open.
    ///
    /// What a link is called proves nothing: in a mount namespace of their own anybody has a file of any name below /dev
    /// (mount_namespaces(7)), and root reads that name. The device numbers of what is open cannot be chosen.
    private func opened(
        by process: [UInt8], among devices: [DeviceNumber], until deadline: Deadline
    ) -> [DeviceNumber] {
        let folder = path("/proc/") + process + KeyedHash.bytes(of: "/fd")
        let names = SmallFile.names(in: folder, limit: DeviceHolders.descriptorLimit, until: deadline)
        var found: [DeviceNumber] = []
        for name in names {
            if deadline.hasPassed { break }
            guard let device = DeviceNumber(openAs: folder + [UInt8(ascii: "/")] + name), devices.contains(device)
            else { continue }
            found.append(device)
        }
        return found
    }

    /// Their names, for an administrator; "a program" for what is not installed and could have any name.
    package func names(of place: ReaderPlace, within milliseconds: Int = 5000) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for holder in holders(of: place, within: milliseconds) {
            let name = holder.isInstalled ? holder.words : KeyedHash.bytes(of: "a program")
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// Whether a program of that file name runs.
    package func runs(_ program: StaticString) -> Bool {
        let program = KeyedHash.bytes(of: program)
        return SmallFile.names(in: path("/proc")).contains { name in
            guard number(name[...]) != nil,
                let file = SmallFile.target(of: path("/proc/") + name + KeyedHash.bytes(of: "/exe"))
            else { return false }
            return file.split(separator: UInt8(ascii: "/")).last?.elementsEqual(program) == true
        }
    }

    /// The device that is the reader at `place` now; nil where there is none.
    private func device(of place: ReaderPlace) -> DeviceNumber? {
        switch place.bus {
        case .usb: usbDevice(of: place)
        case .spi: spiDevice(of: place)
        case .virtual, .other: nil
        }
    }

    /// "189:258" in a device's folder of /sys.
    private func device(in folder: [UInt8]) -> DeviceNumber? {
        guard let text = SmallFile.read(folder + KeyedHash.bytes(of: "/dev"), limit: 64) else { return nil }
        let line = text.prefix { $0 != 0x0A }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), let major = number(line[..<colon]),
            let minor = number(line[(colon + 1)...])
        else { return nil }
        return DeviceNumber(major: UInt32(clamping: major), minor: UInt32(clamping: minor))
    }

    // MARK: SPI

    private func spiDevice(of place: ReaderPlace) -> DeviceNumber? {
        guard let slash = place.path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let name = place.path[(slash + 1)...]
        // "../../devices/pci0000:00/…/spi_master/spi0/spi-ELAN7001:00/spidev/spidev0.0"
        let folder = path("/sys/class/spidev/") + name
        guard name.starts(with: KeyedHash.bytes(of: "spidev")), let target = SmallFile.target(of: folder),
            target.elementsEqual(KeyedHash.bytes(of: "../../devices/") + place.path)
        else { return nil }
        return device(in: folder)
    }

    /// HID devices of Elan at I²C: libfprint's elanspi opens one of them beside its chip, and none is at another bus.
    ///
    /// They are known by their folders, "0018:04F3:3057.0001": bus (BUS_I2C of linux/input.h), vendor, product, number.
    private func wakers(of place: ReaderPlace) -> [DeviceNumber] {
        guard place.bus == .spi, contains(place.path, KeyedHash.bytes(of: "/spi-ELAN")) else { return [] }
        let devices = path("/sys/class/hidraw/")
        return SmallFile.names(in: devices).compactMap { name in
            guard let target = SmallFile.target(of: devices + name),
                contains(target, KeyedHash.bytes(of: "/0018:04F3:"))
            else { return nil }
            return device(in: devices + name)
        }
    }

    // MARK: USB

    /// Whether a program drives the reader at `place`, as far as the kernel tells without a search of all processes.
    ///
    /// The driver of an interface that a program has claimed is called "usbfs" (Linux, drivers/usb/core/devio.c). Of one at
    /// SPI the kernel says nothing, so that true is answered. What is neither no program can have open.
    package func isDriven(_ place: ReaderPlace) -> Bool {
        switch place.bus {
        case .spi: return device(of: place) != nil
        case .virtual, .other: return false
        case .usb: break
        }
        guard let folder = usbFolder(of: place) else { return false }
        return SmallFile.names(in: folder).contains { name in
            // "3-1.4:1.0": configuration and interface stand behind the device.
            name.contains(UInt8(ascii: ":"))
                && SmallFile.target(of: folder + [UInt8(ascii: "/")] + name + KeyedHash.bytes(of: "/driver"))?
                    .split(separator: UInt8(ascii: "/")).last?.elementsEqual("usbfs".utf8) == true
        }
    }

    private func usbDevice(of place: ReaderPlace) -> DeviceNumber? { usbFolder(of: place).flatMap(device(in:)) }

    /// What is plugged in there now, by its folder.
    private func usbFolder(of place: ReaderPlace) -> [UInt8]? {
        guard let slash = place.path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let port = place.path[(slash + 1)...]
        let devices = path("/sys/bus/usb/devices/")
        for name in SmallFile.names(in: devices) {
            // "3-1.4": the number of the bus, and the ports.
            guard let dash = name.firstIndex(of: UInt8(ascii: "-")), name[(dash + 1)...].elementsEqual(port),
                let target = SmallFile.target(of: devices + name), let version = version(of: name[..<dash])
            else { continue }
            // "../../../devices/pci0000:00/0000:00:14.0/usb3/3-1/3-1.4"
            let controller = place.path[..<slash].dropLast(4)
            let hub = KeyedHash.bytes(of: "/devices/") + controller + KeyedHash.bytes(of: "usb") + name[..<dash]
            guard place.path[..<slash].last == version, contains(target, hub + [UInt8(ascii: "/")]) else { continue }
            return devices + name
        }
        return nil
    }

    /// The first figure of the USB version of a bus, as `ReaderPlace.path` has it.
    private func version(of bus: ArraySlice<UInt8>) -> UInt8? {
        SmallFile.read(path("/sys/bus/usb/devices/usb") + bus + KeyedHash.bytes(of: "/version"), limit: 64)?
            .first { $0 != 0x20 }
    }

    private func path(_ text: StaticString) -> [UInt8] { root + KeyedHash.bytes(of: text) }

    private func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count <= 9 else { return nil }
        var value = 0
        for digit in digits {
            guard digit >= 0x30, digit <= 0x39 else { return nil }
            value = value * 10 + Int(digit - 0x30)
        }
        return value
    }

    private func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
    }
}

/// A character device by its numbers (makedev(3)), which tell it from any other whatever its file is called.
struct DeviceNumber: Equatable {
    let major: UInt32
    let minor: UInt32
}

extension DeviceNumber {
    /// The device that a process has open for writing, by its link "/proc/PID/fd/N"; nil for every other file.
    init?(openAs link: [UInt8]) {
        var major: UInt32 = 0
        var minor: UInt32 = 0
        // SAFETY: the path is terminated; all three outlive the call.
        guard unsafe signet_open_device(link.map { CChar(bitPattern: $0) } + [0], &major, &minor) == 1 else {
            return nil
        }
        self.init(major: major, minor: minor)
    }
}
