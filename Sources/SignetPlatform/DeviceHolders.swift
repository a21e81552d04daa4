package import SignetPolicy

/// Who has a reader's device file open: fprintd, a virtual machine, another prompt's helper.
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
    /// Empty where nobody has, and where the place has no device file. The search ends after some milliseconds: a user
    /// with many open files must not keep others waiting.
    func holders(of place: ReaderPlace, within milliseconds: Int) -> [ReaderHolder] {
        let files = deviceFiles(of: place)
        if files.isEmpty { return [] }
        let deadline = Deadline(milliseconds: milliseconds)
        var found: [ReaderHolder] = []
        for name in SmallFile.names(in: path("/proc")) {
            guard let process = number(name[...]) else { continue }
            if deadline.hasPassed { break }
            let folder = path("/proc/") + name + KeyedHash.bytes(of: "/fd")
            let descriptors = SmallFile.names(in: folder, limit: DeviceHolders.descriptorLimit)
            let holds = descriptors.contains { descriptor in
                guard !deadline.hasPassed,
                    let target = SmallFile.target(of: folder + [UInt8(ascii: "/")] + descriptor)
                else { return false }
                return files.contains { $0.elementsEqual(target) }
            }
            guard holds, let holder = ReaderHolder(process: Int32(clamping: process), root: root) else { continue }
            if !found.contains(where: { $0.words == holder.words }) { found.append(holder) }
        }
        return found
    }

    /// Their names, for an administrator.
    package func names(of place: ReaderPlace, within milliseconds: Int = 5000) -> [[UInt8]] {
        holders(of: place, within: milliseconds).map { $0.words }
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

    /// The device file of the reader that is there now: "/dev/bus/usb/003/004", "/dev/spidev0.0".
    package func deviceFile(of place: ReaderPlace) -> [UInt8]? { deviceFiles(of: place).first }

    /// All device files through which the reader is driven, its own first.
    package func deviceFiles(of place: ReaderPlace) -> [[UInt8]] {
        switch place.bus {
        case .usb: usbFile(of: place).map { [$0] } ?? []
        case .spi: spiFiles(of: place)
        case .virtual, .other: []
        }
    }

    // MARK: SPI

    /// The chip's own, and that of the HID device through which it is woken, where it has one.
    private func spiFiles(of place: ReaderPlace) -> [[UInt8]] {
        guard let slash = place.path.lastIndex(of: UInt8(ascii: "/")) else { return [] }
        let name = place.path[(slash + 1)...]
        // "../../devices/pci0000:00/…/spi_master/spi0/spi-ELAN7001:00/spidev/spidev0.0"
        guard name.starts(with: KeyedHash.bytes(of: "spidev")),
            let target = SmallFile.target(of: path("/sys/class/spidev/") + name),
            target.elementsEqual(KeyedHash.bytes(of: "../../devices/") + place.path)
        else { return [] }
        let own = KeyedHash.bytes(of: "/dev/") + name
        return contains(place.path, KeyedHash.bytes(of: "/spi-ELAN")) ? [own] + wakers() : [own]
    }

    /// HID devices of Elan at I²C: libfprint's elanspi opens one of them beside its chip, and none is at another bus.
    ///
    /// They are known by their folders, "0018:04F3:3057.0001": bus (BUS_I2C of linux/input.h), vendor, product, number.
    private func wakers() -> [[UInt8]] {
        let devices = path("/sys/class/hidraw/")
        return SmallFile.names(in: devices).filter { name in
            guard let target = SmallFile.target(of: devices + name) else { return false }
            return contains(target, KeyedHash.bytes(of: "/0018:04F3:"))
        }.map { KeyedHash.bytes(of: "/dev/") + $0 }
    }

    // MARK: USB

    /// "/dev/bus/usb/003/004" of what is plugged in there now.
    private func usbFile(of place: ReaderPlace) -> [UInt8]? {
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
            guard place.path[..<slash].last == version, contains(target, hub + [UInt8(ascii: "/")]),
                let bus = number(in: name, "busnum"), let address = number(in: name, "devnum")
            else { continue }
            return KeyedHash.bytes(of: "/dev/bus/usb/") + padded(bus) + [UInt8(ascii: "/")] + padded(address)
        }
        return nil
    }

    /// The first figure of the USB version of a bus, as `ReaderPlace.path` has it.
    private func version(of bus: ArraySlice<UInt8>) -> UInt8? {
        SmallFile.read(path("/sys/bus/usb/devices/usb") + bus + KeyedHash.bytes(of: "/version"), limit: 64)?
            .first { $0 != 0x20 }
    }

    private func path(_ text: StaticString) -> [UInt8] { root + KeyedHash.bytes(of: text) }

    private func number(in device: [UInt8], _ attribute: StaticString) -> Int? {
        let file = path("/sys/bus/usb/devices/") + device + [UInt8(ascii: "/")] + KeyedHash.bytes(of: attribute)
        guard let text = SmallFile.read(file, limit: 64) else { return nil }
        return number(text.prefix { $0 != 0x0A })
    }

    private func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count <= 9 else { return nil }
        var value = 0
        for digit in digits {
            guard digit >= 0x30, digit <= 0x39 else { return nil }
            value = value * 10 + Int(digit - 0x30)
        }
        return value
    }

    private func padded(_ number: Int) -> [UInt8] {
        let digits = Array("\(number)".utf8)
        return [UInt8](repeating: UInt8(ascii: "0"), count: max(3 - digits.count, 0)) + digits
    }

    private func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
    }
}
