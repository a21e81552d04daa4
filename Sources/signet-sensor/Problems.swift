internal import CFprint
import SignetPolicy

/// What a libfprint call ended with when it did not succeed.
enum Outcome: Equatable {
    /// The touch was no try.
    case retry(RetryReason)
    /// The operation was cancelled by us.
    case cancelled
    /// The reader or its driver failed.
    case problem(ReaderProblem)

    /// Reads what an error of libfprint, GIO or GUsb means.
    ///
    /// Only domain and code count. A retry code that is not known (libfprint 1.94.9 added TOO_FAST) is a general retry.
    /// An error without a known domain is a faulty reader.
    init(_ error: UnsafePointer<GError>?) {
        guard let error = unsafe error else {
            self = .problem(.faulty)
            return
        }
        // SAFETY: the caller passes an error that libfprint has just handed over and that is not freed yet.
        let (domain, code) = unsafe (error.pointee.domain, error.pointee.code)
        if domain == fp_device_retry_quark() {
            self = .retry(Outcome.retryReason(code))
        } else if domain == fp_device_error_quark() {
            self = .problem(Outcome.deviceProblem(code))
        } else if domain == g_io_error_quark() {
            self = Outcome.ioOutcome(code)
        } else if unsafe Outcome.isUSB(signet_error_domain(error)) {
            self = Outcome.usbOutcome(code)
        } else {
            self = .problem(.faulty)
        }
    }

    /// FpDeviceRetry, and 4 for TOO_FAST, which the headers of 1.94.5 do not have.
    private static func retryReason(_ code: Int32) -> RetryReason {
        switch code {
        case 1: return .tooShort
        case 2: return .centreFinger
        case 3: return .removeFinger
        case 4: return .tooFast
        default: return .general
        }
    }

    /// FpDeviceError.
    private static func deviceProblem(_ code: Int32) -> ReaderProblem {
        switch code {
        case 1: return .unsupported
        case 3, 4: return .busy
        case 7: return .printNotFound
        case 8: return .storageFull
        case 9: return .duplicate
        case 0x100: return .removed
        case 0x101: return .tooHot
        default: return .faulty
        }
    }

    /// GIOErrorEnum.
    private static func ioOutcome(_ code: Int32) -> Outcome {
        switch code {
        case 1: return .problem(.removed)
        case 14: return .problem(.notPermitted)
        case 15: return .problem(.unsupported)
        case 19: return .cancelled
        case 24: return .problem(.timedOut)
        case 26: return .problem(.busy)
        default: return .problem(.faulty)
        }
    }

    /// GUsbDeviceError; its numbers are part of libgusb's ABI, 10 (busy) came with 0.3.11.
    private static func usbOutcome(_ code: Int32) -> Outcome {
        switch code {
        case 2: return .problem(.timedOut)
        case 3: return .problem(.unsupported)
        case 4: return .problem(.removed)
        case 6, 10: return .problem(.busy)
        case 7: return .cancelled
        case 9: return .problem(.notPermitted)
        default: return .problem(.faulty)
        }
    }

    /// The domain of libgusb is recognised by its name, since libgusb's own headers are not needed otherwise.
    private static func isUSB(_ domain: UnsafePointer<CChar>?) -> Bool {
        guard let domain = unsafe domain else { return false }
        // SAFETY: GLib never frees the text of a quark, and both texts end with a zero.
        return unsafe strncmp(domain, "g-usb-device-error", 18) == 0
    }
}
