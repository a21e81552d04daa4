import Foundation
import SignetEngine
import SignetPolicy

/// A field whose keys come through a pipe: "e" is Enter, "c" cancels, "l" leaves, all else is typed.
final class PipeField: FieldWatch, @unchecked Sendable {
    let keys: Int32
    private var writer: Int32
    var signals: Int32 = -1
    /// When the field has stood open for too long.
    var end: Date?
    /// Takes nothing and says nothing, as no field may.
    var isBroken = false
    /// How long the program is stopped when the field is looked at for the first time, in microseconds.
    var stop: UInt32 = 0
    private(set) var looks = 0

    init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        keys = ends[0]
        writer = ends[1]
        _ = fcntl(keys, F_SETFL, O_NONBLOCK)
        for descriptor in ends { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(keys)
        hangUp()
    }

    var patience: Int32 {
        guard let end else { return -1 }
        return Int32(max(0, end.timeIntervalSinceNow * 1000))
    }

    func press(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(writer, bytes, bytes.count)
    }

    /// Presses after some milliseconds, on a thread of its own.
    func press(_ keys: String, after milliseconds: UInt32) -> Background {
        Background {
            usleep(milliseconds * 1000)
            self.press(keys)
        }
    }

    /// The terminal goes away.
    func hangUp() {
        if writer >= 0 { close(writer) }
        writer = -1
    }

    func attend() -> FieldEvent? {
        looks += 1
        if looks == 1, stop > 0 { usleep(stop) }
        if isBroken { return nil }
        if signals >= 0 {
            var byte: UInt8 = 0
            if read(signals, &byte, 1) == 1 { return .cancelled }
        }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(keys, &buffer, buffer.count)
        if count == 0 { return .cancelled }
        for byte in buffer.prefix(max(0, count)) {
            switch byte {
            case UInt8(ascii: "e"): return .answered
            case UInt8(ascii: "c"): return .cancelled
            case UInt8(ascii: "l"): return .left
            default: break
            }
        }
        if let end, end.timeIntervalSinceNow <= 0 { return .timedOut }
        return nil
    }
}
