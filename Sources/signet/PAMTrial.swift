internal import CPAMMisc
internal import CPlatform

/// One real authentication through a service's stack, with nothing started afterwards.
///
/// It is for root alone: a program that anyone may start would be another door to guess at.
struct PAMTrial: Encodable {
    let service: String
    let user: String
    let granted: Bool
    /// PAM's number for the answer, 0 where it is yes.
    let pamCode: Int32
    /// PAM's words for it.
    let message: String

    /// Authenticates as a program of the user's would: with their real uid, as sudo and su have it, and root's effective one.
    ///
    /// With root's real uid pam_rootok would say yes to `su` before anybody is asked, and the trial would prove nothing.
    init(service: String, user: TargetUser) throws(Failure) {
        self.service = service
        self.user = user.text
        let name = String(decoding: user.name, as: UTF8.self)
        guard setreuid(user.uid, UInt32.max) == 0 else {
            throw Failure(.busy, "the real uid cannot be set", hint: "run it as root, outside any sandbox")
        }
        defer { _ = setreuid(0, UInt32.max) }
        // SAFETY: misc_conv is a C function that lives as long as the program, and it takes no data.
        var conversation = unsafe pam_conv(conv: misc_conv, appdata_ptr: nil)
        // SAFETY: an optional pointer to nothing yet.
        var handle: OpaquePointer?
        // SAFETY: libpam copies all three before it returns.
        guard unsafe pam_start(service, name, &conversation, &handle) == PAM_SUCCESS, let handle = unsafe handle else {
            throw Failure(.no, "PAM did not start for \(service)", hint: "look into the system's log")
        }
        // A module decides by the terminal how to ask.
        // SAFETY: ttyname's text lives until its next call, and pam_set_item copies it.
        if let terminal = unsafe ttyname(STDIN_FILENO) { _ = unsafe pam_set_item(handle, PAM_TTY, terminal) }
        // SAFETY: pam_set_item copies the name, which is a C string for the time of the call.
        _ = unsafe name.withCString { unsafe pam_set_item(handle, PAM_RUSER, $0) }
        // SAFETY: the handle is open until pam_end.
        pamCode = unsafe pam_authenticate(handle, 0)
        granted = pamCode == PAM_SUCCESS
        // SAFETY: strerror's text is a constant of libpam's.
        message = unsafe pam_strerror(handle, pamCode).map { unsafe String(cString: $0) } ?? "no reason"
        // SAFETY: the handle is not used after this.
        _ = unsafe pam_end(handle, pamCode)
    }
}
