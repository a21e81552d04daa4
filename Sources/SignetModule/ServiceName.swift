extension [UInt8] {
    /// Whether a service of this name is sudo's (sudoers(5): pam_service, pam_login_service).
    var isSudo: Bool { equals("sudo") || equals("sudo-i") }

    /// Compares with a literal, as bytes: comparing text as text would need Unicode tables.
    func equals(_ literal: StaticString) -> Bool {
        literal.withUTF8Buffer { buffer in
            // SAFETY: a static string's bytes live as long as the program.
            unsafe elementsEqual(buffer)
        }
    }
}
