internal import CPAMMisc
internal import CPlatform

/// `signet pam try`: one real authentication through a service's stack, with nothing started afterwards.
///
/// It is for root alone: a program that anyone may start would be another door to guess at.
struct PAMTrial {
    let service: String
    let user: String

    /// 0 where the stack says yes, 1 where it does not, 3 where the caller is not root.
    func run() -> Int32 {
        guard geteuid() == 0 else {
            return PAMCommand.complain("only root may try a service", hint: "sudo signet pam try", 3)
        }
        // SAFETY: misc_conv is a C function that lives as long as the program, and it takes no data.
        var conversation = unsafe pam_conv(conv: misc_conv, appdata_ptr: nil)
        // SAFETY: an optional pointer to nothing yet.
        var handle: OpaquePointer?
        // SAFETY: libpam copies all three before it returns.
        guard unsafe pam_start(service, user, &conversation, &handle) == PAM_SUCCESS, let handle = unsafe handle else {
            return PAMCommand.complain("PAM did not start for \(service)", hint: "the journal says more", 1)
        }
        // A module decides by the terminal how to ask.
        // SAFETY: ttyname's text lives until its next call, and pam_set_item copies it.
        if let terminal = unsafe ttyname(STDIN_FILENO) { _ = unsafe pam_set_item(handle, PAM_TTY, terminal) }
        // SAFETY: the handle is open until pam_end.
        let status = unsafe pam_authenticate(handle, 0)
        // SAFETY: strerror's text is a constant of libpam's.
        let reason = unsafe pam_strerror(handle, status).map { unsafe String(cString: $0) } ?? "no reason"
        // SAFETY: the handle is not used after this.
        _ = unsafe pam_end(handle, status)
        guard status == PAM_SUCCESS else {
            return PAMCommand.complain("\(service) did not let \(user) in: \(reason)", hint: "the journal says more", 1)
        }
        print("\(service) lets \(user) in")
        return 0
    }
}
