internal import CPlatform
internal import PAMShim

/// A borrowed handle of libpam, valid for the one call in which it was given (`pam(3)`).
@safe struct PAMHandle {
    private let handle: OpaquePointer

    /// The name under which the outcome that ends a transaction is kept (`pam_set_data(3)`).
    private static let outcomeName: StaticString = "signet_outcome"
    /// The longest item that is read, in bytes.
    private static let itemLimit = 1024

    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    /// A text item (`pam_get_item(3)`): its bytes, or nil where it is absent, empty or too long.
    func text(_ item: Item) -> [UInt8]? {
        var value: UnsafeRawPointer?
        // SAFETY: the handle is valid for this call; the answer is borrowed from it and copied at once.
        guard unsafe pam_get_item(handle, item.number, &value) == PAM_SUCCESS, let value = unsafe value else {
            return nil
        }
        // SAFETY: the items named below are C strings of libpam's own.
        return unsafe PAMHandle.copy(value.assumingMemoryBound(to: CChar.self))
    }

    /// The user's name, asked for by libpam where the program did not set it (`pam_get_user(3)`).
    func user() -> [UInt8]? {
        var name: UnsafePointer<CChar>?
        // SAFETY: the handle is valid for this call; the answer is borrowed from it and copied at once.
        guard unsafe pam_get_user(handle, &name, nil) == PAM_SUCCESS, let name = unsafe name else { return nil }
        // SAFETY: pam_get_user answers a C string of libpam's own.
        return unsafe PAMHandle.copy(name)
    }

    /// The program's conversation function, or nil where there is none.
    func conversation() -> pam_conv? {
        var value: UnsafeRawPointer?
        // SAFETY: the handle is valid for this call; PAM_CONV answers a pam_conv that libpam owns and that is copied.
        guard unsafe pam_get_item(handle, PAM_CONV, &value) == PAM_SUCCESS, let value = unsafe value else {
            return nil
        }
        // SAFETY: as above.
        return unsafe value.assumingMemoryBound(to: pam_conv.self).pointee
    }

    /// The PAM code that an earlier call within this transaction ended with for good, or nil.
    var finalCode: CInt? {
        get {
            var data: UnsafeRawPointer?
            // SAFETY: the handle is valid; the name is a static C string. What is kept is a number, never a pointer.
            let code = unsafe pam_get_data(handle, PAMHandle.name, &data)
            guard code == PAM_SUCCESS, let data = unsafe data else { return nil }
            return CInt(truncatingIfNeeded: Int(bitPattern: data))
        }
        nonmutating set {
            guard let newValue else { return }
            // SAFETY: as above; no clean-up is needed for a number. A failure only means that the text is said again.
            _ = unsafe pam_set_data(handle, PAMHandle.name, UnsafeMutableRawPointer(bitPattern: Int(newValue)), nil)
        }
    }

    /// The items that Signet reads.
    ///
    /// PAM_AUTHTOK and PAM_OLDAUTHTOK are not among them (rule 6).
    enum Item {
        case service, terminal, remoteHost

        var number: CInt {
            switch self {
            case .service: PAM_SERVICE
            case .terminal: PAM_TTY
            case .remoteHost: PAM_RHOST
            }
        }
    }

    private static var name: UnsafePointer<CChar> {
        // SAFETY: a static string's bytes live as long as the program and end with a zero.
        unsafe UnsafeRawPointer(outcomeName.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    // SAFETY of callers: `string` is a C string.
    private static func copy(_ string: UnsafePointer<CChar>) -> [UInt8]? {
        let length = unsafe strnlen(string, itemLimit + 1)
        guard length > 0, length <= itemLimit else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        for index in 0..<length { bytes.append(UInt8(bitPattern: unsafe string[index])) }
        return bytes
    }
}
