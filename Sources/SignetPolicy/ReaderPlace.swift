/// How a reader is connected.
package enum ReaderBus: UInt8, Equatable, Sendable {
    /// One of libfprint's virtual readers, which is a socket and no device.
    case virtual = 1
    case usb = 2
    case spi = 3
    /// Nobody can say.
    case other = 4
}

/// What the firmware says of a port: the attribute `removable` (Linux, Documentation/ABI/testing/sysfs-devices-removable).
package enum PortAttachment: UInt8, Equatable, Sendable {
    /// Built in: nobody plugs anything into it without opening the case.
    case fixed = 1
    /// An outside port, or behind one.
    case removable = 2
    /// The firmware does not say, which is so on many desktops.
    case unknown = 3

    /// The word of the attribute; whatever else is there means nothing.
    package init(attribute: [UInt8]) {
        if attribute.elementsEqual("fixed".utf8) {
            self = .fixed
        } else if attribute.elementsEqual("removable".utf8) {
            self = .removable
        } else {
            self = .unknown
        }
    }

    /// What holds for a device with `devices` between it and the root hub (itself among them), and `others` above that.
    ///
    /// A compound device brings a hub of its own, whose descriptor says which of its ports are built in (USB 2.0 §11.23.2.1,
    /// DeviceRemovable), and the kernel believes it: so a stick with a hub in it calls the false reader behind that hub
    /// "fixed". Only a chain of which every link is built in is built in. Above the root hub only an outside port counts:
    /// a controller in a dock is removable, but no firmware calls a soldered one fixed.
    package static func ofChain(devices: [PortAttachment], others: [PortAttachment]) -> PortAttachment {
        if devices.contains(.removable) || others.contains(.removable) { return .removable }
        return devices.isEmpty || devices.contains(.unknown) ? .unknown : .fixed
    }
}

/// Where a reader is: what tells the one behind the palm rest from one that somebody plugs in.
package struct ReaderPlace: Equatable, Sendable {
    package let bus: ReaderBus
    package let attachment: PortAttachment
    /// The port's path below /sys/devices: "pci0000:00/0000:00:14.0/usb2/1.4".
    ///
    /// In the place of the bus's number, which a boot may change, stands its version of USB. Empty where there is none; at
    /// most `pathLimit` bytes.
    package let path: [UInt8]

    package static let pathLimit = 255

    /// A path that is too long counts as none.
    package init(bus: ReaderBus, attachment: PortAttachment, path: [UInt8]) {
        self.bus = bus
        self.attachment = attachment
        self.path = path.count <= ReaderPlace.pathLimit ? path : []
    }

    /// Where virtual readers are.
    package static var virtual: ReaderPlace { ReaderPlace(bus: .virtual, attachment: .unknown, path: []) }
    /// Where a reader is of which nobody can say anything.
    package static var nowhere: ReaderPlace { ReaderPlace(bus: .other, attachment: .unknown, path: []) }

    /// Whether a closed lid may cover it.
    package var mayBeInside: Bool { attachment != .removable }

    /// Whether this is that very port, whatever its firmware says of it today.
    package func isSamePort(as other: ReaderPlace) -> Bool { bus == other.bus && path == other.path }

    /// The port as lsusb counts it, hub by hub: "1.4"; empty where it is none of USB.
    package var port: ArraySlice<UInt8> {
        guard bus == .usb, let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return [] }
        return path[(slash + 1)...]
    }
}
