internal import CPlatform
internal import PAMShim

/// A borrowed handle of libpam, valid for the one call in which it was given (`pam(3)`).
@safe struct PAMHandle {
    private let handle: OpaquePointer

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

    /// The PAM code that an earlier call within this transaction ended with for good for the same user, or nil.
    ///
    /// `login` asks for another name within one transaction, and what ended the one's ends nothing for the other.
    var finalCode: CInt? {
        get {
            guard let name = outcomeName else { return nil }
            var data: UnsafeRawPointer?
            // SAFETY: the handle is valid; `name` ends with a zero. What is kept is a number, never a pointer.
            let code = unsafe name.withUnsafeBufferPointer { bytes in
                guard let name = bytes.baseAddress else { return PAM_SYSTEM_ERR }
                return unsafe pam_get_data(handle, name, &data)
            }
            guard code == PAM_SUCCESS, let data = unsafe data else { return nil }
            return CInt(truncatingIfNeeded: Int(bitPattern: data))
        }
        nonmutating set {
            guard let newValue, let name = outcomeName else { return }
            // SAFETY: as above, and libpam copies the name; no clean-up is needed for a number. A failure only means that the
            // text is said again.
            unsafe name.withUnsafeBufferPointer { bytes in
                guard let name = bytes.baseAddress else { return }
                _ = unsafe pam_set_data(handle, name, UnsafeMutableRawPointer(bitPattern: Int(newValue)), nil)
            }
        }
    }

    /// The name under which the outcome that ends a user's transaction is kept (`pam_set_data(3)`); nil without a user.
    private var outcomeName: [CChar]? {
        guard let user = text(.user) else { return nil }
        return (Array("signet_outcome:".utf8) + user + [0]).map { CChar(bitPattern: $0) }
    }

    /// The items that Signet reads.
    ///
    /// PAM_AUTHTOK and PAM_OLDAUTHTOK are not among them (rule 6).
    enum Item {
        case service, terminal, remoteHost, user, requester

        var number: CInt {
            switch self {
            case .service: PAM_SERVICE
            case .terminal: PAM_TTY
            case .remoteHost: PAM_RHOST
            case .user: PAM_USER
            case .requester: PAM_RUSER
            }
        }
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
