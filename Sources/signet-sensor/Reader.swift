internal import CFprint
import SignetPolicy
import SignetRecords

/// The readers that libfprint finds; what is plugged in or out later comes and goes by itself.
@safe final class ReaderList {
    /// libfprint's object, which is never given back: the process ends first.
    private let context: UnsafeMutablePointer<FpContext>?

    /// Finds the readers; takes as long as their drivers need to look.
    init() {
        // SAFETY: both calls take what the first has just made.
        unsafe context = fp_context_new()
        unsafe fp_context_enumerate(context)
    }

    /// Those that are there now.
    var present: [Reader] {
        // SAFETY: the context lives as long as the process; its array and the devices in it do until the main loop runs.
        guard let devices = unsafe fp_context_get_devices(context) else { return [] }
        let count = unsafe min(Int(devices.pointee.len), SensorMessage.readerLimit)
        return (0..<count).compactMap { index in
            // SAFETY: `index` is below the length of the array, whose elements are FpDevice.
            guard let element = unsafe devices.pointee.pdata[index] else { return nil }
            return unsafe Reader(element.assumingMemoryBound(to: FpDevice.self))
        }
    }
}

/// One reader as libfprint knows it.
@safe final class Reader {
    /// libfprint's object; one reference of ours, which is never given back: the process ends first.
    let device: UnsafeMutablePointer<FpDevice>
    let identity: ReaderIdentity
    let place: ReaderPlace

    /// Takes a device out of libfprint's list.
    init(_ device: UnsafeMutablePointer<FpDevice>) {
        // SAFETY: the device is alive while it is in the list; the reference keeps it. Its texts live as long.
        unsafe g_object_ref(device)
        unsafe self.device = device
        identity = ReaderIdentity(
            driver: unsafe Reader.bytes(fp_device_get_driver(device), atMost: SensorMessage.driverLimit),
            device: unsafe Reader.bytes(fp_device_get_device_id(device), atMost: SensorMessage.deviceLimit))
        place = unsafe PlaceFinder(device).find(isVirtual: identity.isVirtual)
    }

    private static func bytes(_ text: UnsafePointer<CChar>?, atMost limit: Int) -> [UInt8] {
        guard let text = unsafe text else { return [] }
        // SAFETY: libfprint's texts end with a zero.
        let length = unsafe min(strlen(text), limit)
        return (0..<length).map { unsafe UInt8(bitPattern: text[$0]) }
    }

    func has(_ feature: FpDeviceFeature) -> Bool { unsafe fp_device_has_feature(device, feature) != 0 }

    var listsPrints: Bool { has(FP_DEVICE_FEATURE_STORAGE) && has(FP_DEVICE_FEATURE_STORAGE_LIST) }
    var identifies: Bool { has(FP_DEVICE_FEATURE_IDENTIFY) }

    /// The number of touches of an enrollment; an upper bound, for some drivers end earlier.
    var stages: Int { unsafe max(1, Int(fp_device_get_nr_enroll_stages(device))) }

    var description: ReaderDescription {
        ReaderDescription(
            identity: identity, place: place,
            name: unsafe Reader.bytes(fp_device_get_name(device), atMost: SensorMessage.nameLimit),
            stages: UInt8(clamping: stages),
            swipes: unsafe fp_device_get_scan_type(device) == FP_SCAN_TYPE_SWIPE,
            identifies: identifies, storesPrints: has(FP_DEVICE_FEATURE_STORAGE), listsPrints: listsPrints)
    }

    /// Starts to open the reader.
    func startOpening(_ operation: Operation) {
        unsafe fp_device_open(device, operation.cancellable, Operation.done, operation.retainedPointer())
    }

    /// What opening ended with; nil is success.
    func finishOpening(_ operation: Operation) -> Outcome? {
        var error: UnsafeMutablePointer<GError>?
        // SAFETY: the operation is done and is that of `startOpening`.
        if unsafe fp_device_open_finish(device, operation.result, &error) != 0 { return nil }
        return unsafe take(error)
    }

    func startClosing(_ operation: Operation) {
        unsafe fp_device_close(device, operation.cancellable, Operation.done, operation.retainedPointer())
    }

    func startListing(_ operation: Operation) {
        unsafe fp_device_list_prints(device, operation.cancellable, Operation.done, operation.retainedPointer())
    }

    /// The prints that the reader lists, or why it does not.
    func finishListing(_ operation: Operation) -> Result<[Print], ListingFailure> {
        var error: UnsafeMutablePointer<GError>?
        // SAFETY: the operation is done and is that of `startListing`; the array is ours.
        guard let array = unsafe fp_device_list_prints_finish(device, operation.result, &error) else {
            return .failure(ListingFailure(outcome: unsafe take(error)))
        }
        defer { unsafe g_ptr_array_unref(array) }
        let prints = unsafe (0..<Int(array.pointee.len)).compactMap { index -> Print? in
            // SAFETY: `index` is below the length of the array, whose elements are FpPrint.
            guard let element = unsafe array.pointee.pdata[index] else { return nil }
            return unsafe Print(retaining: OpaquePointer(element))
        }
        return .success(prints)
    }

    /// Reads and frees an error of this reader.
    func take(_ error: UnsafeMutablePointer<GError>?) -> Outcome {
        guard let error = unsafe error else { return .problem(.faulty) }
        // fpcmoc before libfprint 1.94.6 frees the error that it hands over: it is neither read nor freed here.
        if hasFreedErrors { return .problem(.faulty) }
        // SAFETY: libfprint gave the error to us; it is not used after it is freed.
        defer { unsafe g_error_free(error) }
        return unsafe Outcome(error)
    }

    /// Whether errors of this driver may be freed already.
    var hasFreedErrors: Bool { identity.driver == Array("fpcmoc".utf8) }
}

/// Why a list could not be had.
struct ListingFailure: Error { let outcome: Outcome }

/// A print as libfprint knows it, with one owner of the reference.
@safe final class Print {
    let pointer: OpaquePointer

    init(retaining pointer: OpaquePointer) {
        unsafe g_object_ref(UnsafeMutableRawPointer(pointer))
        unsafe self.pointer = pointer
    }

    /// Reads libfprint's serialized form; nil where libfprint refuses it.
    ///
    /// libfprint aborts on much that is malformed, which ends this process and no other. What comes here was opened
    /// from a sealed record by the sender.
    init?(template: Span<UInt8>) {
        // "FP3" and the print's type, the least that is looked at here.
        guard template.count > 7, template[0] == 0x46, template[1] == 0x50, template[2] == 0x33 else { return nil }
        kind = template[3]
        var error: UnsafeMutablePointer<GError>?
        // SAFETY: libfprint copies what it needs during the call.
        let read = unsafe template.withUnsafeBufferPointer { bytes in
            unsafe fp_print_deserialize(bytes.baseAddress, gsize(bytes.count), &error)
        }
        guard let read = unsafe read else { return nil }
        unsafe pointer = read
    }

    deinit { unsafe g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// The lowest byte of the serialized type: 1 the driver's own data, 2 minutiae (`FpiPrintType`); 0 where not known.
    private(set) var kind: UInt8 = 0

    /// Whether the reader keeps the print and this is only its handle.
    var isOnReader: Bool { unsafe fp_print_get_device_stored(pointer) != 0 }

    /// Whether `reader` may compare this print.
    ///
    /// Image drivers compare prints of other drivers without a word, and one print of the wrong type makes a whole
    /// identification fail; only image drivers can capture, and only they have minutiae.
    func fits(_ reader: Reader) -> Bool {
        guard unsafe fp_print_compatible(pointer, reader.device) != 0 else { return false }
        return kind == (reader.has(FP_DEVICE_FEATURE_CAPTURE) ? 2 : 1)
    }

    /// Whether type, driver, device and data are the same; metadata does not count.
    func isSame(as other: Print) -> Bool { unsafe fp_print_equal(pointer, other.pointer) != 0 }
}
