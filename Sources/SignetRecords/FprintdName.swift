package import SignetPolicy

/// The names in fprintd's store, `USER/DRIVER/DEVICE_ID/FINGER`, each one component of a path.
///
/// fprintd makes the first three from what it was told and the last from the finger's number: one hexadecimal digit in
/// lower case (fprintd 1.94, `file_storage.c`). Whatever else stands there fprintd did not write.
package enum FprintdName {
    /// The finger of a file's name, `1` to `9` and `a`; nil for any other name.
    package static func finger(_ name: [UInt8]) -> Finger? {
        guard name.count == 1, let digit = name.first else { return nil }
        switch digit {
        case UInt8(ascii: "1")...UInt8(ascii: "9"): return Finger(number: digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a"): return Finger(number: 10)
        default: return nil
        }
    }

    /// Whether a folder's name can be a driver's: letters, digits, `_` and `-`, as in all drivers of libfprint.
    package static func isDriver(_ name: [UInt8]) -> Bool {
        guard !name.isEmpty, name.count <= ReaderIdentity.driverLimit else { return false }
        return name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    /// Whether a folder's name can be a device id: text without what a terminal obeys, and one plain path component.
    ///
    /// Most drivers give "0"; a serial number comes from the device's own memory and may be anything.
    package static func isDevice(_ name: [UInt8]) -> Bool {
        guard !name.isEmpty, name.count <= ReaderIdentity.deviceLimit else { return false }
        if name == [UInt8(ascii: ".")] || name == [UInt8(ascii: "."), UInt8(ascii: ".")] { return false }
        var index = 0
        while index < name.count {
            guard let (value, length) = UTF8Text.scalar(in: name, at: index), !UTF8Text.isDangerous(value),
                value != UInt32(UInt8(ascii: "/"))
            else { return false }
            index += length
        }
        return true
    }
}
