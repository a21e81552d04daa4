internal import CFprint
internal import CPlatform
import SignetPolicy

/// Where a reader is, as the kernel tells it under /sys.
///
/// libfprint 1.94 has no public call for it, but each FpDevice gives back the objects that it was made with: the property
/// `fpi-usb-device` is libgusb's device, whose bus and address name one folder of /sys/bus/usb/devices, and
/// `fpi-udev-data-spidev` and `fpi-udev-data-hidraw` are paths of device files. A libfprint without these properties, or a
/// driver of another kind, leaves the reader without a place.
@safe struct PlaceFinder {
    private let device: UnsafeMutablePointer<FpDevice>

    init(_ device: UnsafeMutablePointer<FpDevice>) { unsafe self.device = device }

    /// Looks; to be called before the helper gives up the right to open files.
    func find(isVirtual: Bool) -> ReaderPlace {
        if isVirtual { return .virtual }
        var bus: UInt8 = 0
        var address: UInt8 = 0
        if unsafe signet_usb_address(device, &bus, &address) != 0 { return usb(bus, address) ?? .nowhere }
        return spi() ?? .nowhere
    }

    // MARK: USB

    /// The folder with that bus and address: two devices can't have the same while both are there.
    private func usb(_ bus: UInt8, _ address: UInt8) -> ReaderPlace? {
        let prefix = Array("\(bus)-".utf8)
        for name in SystemFolder.names("/sys/bus/usb/devices")
        where name.starts(with: prefix) && !name.contains(UInt8(ascii: ":")) {
            let link = "/sys/bus/usb/devices/" + String(decoding: name, as: UTF8.self)
            guard SystemFolder.number(link + "/busnum") == bus, SystemFolder.number(link + "/devnum") == address,
                let path = SystemFolder.realPath(link)
            else { continue }
            return place(usbPath: path)
        }
        return nil
    }

    /// "/sys/devices/…/usb1/1-1/1-1.4": each folder below the root hub is a hub on the way, the last one the reader.
    private func place(usbPath path: [UInt8]) -> ReaderPlace? {
        guard let steps = SystemFolder.steps(below: path), let root = steps.lastIndex(where: { isRootHub($0.name) }),
            root > 0, root < steps.count - 1
        else { return nil }
        let last = steps[steps.count - 1].name
        // "1-1.4" without the number of the bus.
        guard let dash = last.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        // One controller has a bus for each generation of USB, and both count their ports from 1.
        guard let version = SystemFolder.read(steps[root].path + "/version")?.first(where: { $0 != 0x20 }) else {
            return nil
        }
        var stable: [UInt8] = []
        for step in steps[..<root] { stable += Array(step.name) + [UInt8(ascii: "/")] }
        stable += Array("usb".utf8) + [version, UInt8(ascii: "/")] + last[(dash + 1)...]
        return ReaderPlace(
            bus: .usb,
            attachment: .ofChain(
                devices: steps[(root + 1)...].map { attachment($0) }, others: steps[..<root].map { attachment($0) }),
            path: stable)
    }

    private func isRootHub(_ name: ArraySlice<UInt8>) -> Bool {
        name.count > 3 && name.starts(with: "usb".utf8) && name.dropFirst(3).allSatisfy { (0x30...0x39).contains($0) }
    }

    private func attachment(_ step: SystemFolder.Step) -> PortAttachment {
        PortAttachment(attribute: SystemFolder.read(step.path + "/removable") ?? [])
    }

    // MARK: SPI

    /// A chip on an SPI bus is soldered, unless the bus itself hangs at an outside port.
    private func spi() -> ReaderPlace? {
        guard let chip = devicePath("fpi-udev-data-spidev", folder: "/sys/class/spidev/"),
            let steps = SystemFolder.steps(below: chip)
        else { return nil }
        var others = steps.map { attachment($0) }
        // Some chips are woken through a second device (elanspi), which must not be another one's.
        if let second = devicePath("fpi-udev-data-hidraw", folder: "/sys/class/hidraw/"),
            let more = SystemFolder.steps(below: second)
        {
            others += more.map { attachment($0) }
        }
        let prefix = Array("/sys/devices/".utf8)
        return ReaderPlace(
            bus: .spi, attachment: .ofChain(devices: [.fixed], others: others),
            path: Array(chip.dropFirst(prefix.count)))
    }

    /// The folder of a device file that a property names: "/dev/spidev0.0".
    private func devicePath(_ property: StaticString, folder: String) -> [UInt8]? {
        var text = [CChar](repeating: 0, count: 256)
        // SAFETY: both texts end with a zero, and the buffer has the length that is passed.
        let found = unsafe text.withUnsafeMutableBufferPointer { buffer in
            property.withUTF8Buffer { name in
                guard let name = name.baseAddress, let target = buffer.baseAddress else { return CInt(0) }
                return unsafe signet_device_text(
                    device, UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self), target, gsize(buffer.count))
            }
        }
        guard found != 0 else { return nil }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return SystemFolder.realPath(folder + String(decoding: bytes[(slash + 1)...], as: UTF8.self))
    }
}
