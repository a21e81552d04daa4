internal import SignetRecords

extension [UInt8] {
    /// Whether a service of this name is sudo's (sudoers(5): pam_service, pam_login_service).
    var isSudo: Bool { isText("sudo") || isText("sudo-i") }
}
