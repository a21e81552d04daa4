internal import CPlatform
internal import PAMShim
internal import SignetEngine
internal import SignetPolicy

/// Runs one authentication and answers a PAM code; the shim's header declares it.
@c @implementation
public func signet_authenticate(
    _ handle: OpaquePointer, _ flags: CInt, _ argc: CInt, _ argv: UnsafePointer<UnsafePointer<CChar>?>?
) -> CInt {
    // SAFETY: libpam gives a handle that is valid for this call (`pam_sm_authenticate(3)`).
    let pam = unsafe PAMHandle(handle)
    // sudo asks three times and login five: what a new try cannot change is said once and then answered at once.
    if let code = pam.finalCode { return code }
    // SAFETY: libpam gives `argc` C strings.
    let arguments = ModuleArguments(unsafe words(argc, argv))
    let verdict = ModuleCall(pam, flags: flags, arguments: arguments).run()
    if verdict.endsTransaction {
        pam.finalCode = verdict.code
        endRetries(of: pam)
    }
    return verdict.code
}

/// The module's arguments as bytes.
private func words(_ argc: CInt, _ argv: UnsafePointer<UnsafePointer<CChar>?>?) -> [[UInt8]] {
    guard let argv = unsafe argv, argc > 0 else { return [] }
    var words: [[UInt8]] = []
    for index in 0..<Int(argc) {
        // SAFETY: `index` is below `argc`, and each entry is null or a C string that lives through the call.
        guard let word = unsafe argv[index] else { continue }
        let length = unsafe strlen(word)
        words.append((0..<length).map { unsafe UInt8(bitPattern: word[$0]) })
    }
    return words
}

/// Leaves one SIGINT pending, which ends sudo's loop of tries without another prompt.
///
/// sudo blocks SIGINT while it authenticates and looks after each try whether one is pending (`sudo(8)`, verify_user).
/// Only sudo is treated so: another program that blocks SIGINT may read it from a signalfd and take it for an order.
private func endRetries(of pam: PAMHandle) {
    guard let service = pam.text(.service), service.isSudo else { return }
    var blocked = sigset_t()
    // SAFETY: `blocked` is ours and outlives the calls.
    guard unsafe sigprocmask(SIG_BLOCK, nil, &blocked) == 0, unsafe sigismember(&blocked, SIGINT) == 1 else { return }
    _ = kill(getpid(), SIGINT)
}
