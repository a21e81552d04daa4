internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// What `setup --set-lockout-auth` sets the TPM's protection against guessing to.
///
/// A right PIN does not lower the TPM's count, and disk encryption may use it too: so the numbers must bear the slips of
/// everybody on the machine.
enum LockoutProtection {
    /// TPM2_PT_MAX_AUTH_FAIL: as many failures lock the TPM; the least with which it counts wrong PINs.
    static let limit = PINCounting.leastLimit
    /// TPM2_PT_LOCKOUT_INTERVAL. 600 seconds forgive 144 slips a day, and give whoever guesses with the machine in hand no
    /// more: half of all six-digit PINs take 500,000 / 144 days, nine and a half years.
    static let healSeconds: UInt32 = 600
    /// TPM2_PT_LOCKOUT_RECOVERY: one guess a day at lockoutAuth itself. Nobody is shut out by it, for the count heals
    /// from full to none in 32 × 600 seconds, five hours and twenty minutes, without any reset.
    static let recoverySeconds: UInt32 = 86_400
}

/// The secret that guards the reset of the TPM's count: lockoutAuth.
enum LockoutSecret {
    /// At one guess a day eight characters are enough.
    static let leastCount = 8
    /// In bytes: what an authorisation may have with SHA-256.
    static let mostCount = EnclaveMessage.lockoutAuthLimit

    /// Asks twice at the terminal.
    static func ask(_ configuration: Configuration) throws(Failure) -> SecretBytes {
        guard var field = TerminalField(FieldStyle.ofCommandLine(configuration)) else { throw noTerminal }
        let first = try answer(&field, "New lockout secret: ")
        try check(first)
        let second = try answer(&field, "New lockout secret again: ")
        field.close()
        guard first.isEqual(to: second) else {
            throw Failure(.no, "the two are not the same", hint: "nothing was changed; run it again")
        }
        return first
    }

    /// Asks for the secret that is set, once: a wrong one bars the reset.
    static func askOnce(_ configuration: Configuration) throws(Failure) -> SecretBytes {
        guard var field = TerminalField(FieldStyle.ofCommandLine(configuration)) else { throw noTerminal }
        let secret = try answer(&field, "Lockout secret (asked once): ")
        field.close()
        try check(secret)
        return secret
    }

    /// Takes one line of standard input.
    static func readStandardInput() throws(Failure) -> SecretBytes {
        let secret: SecretBytes
        do throws(InputProblem) { secret = try StandardInput.readSecretLine(limit: mostCount) } catch {
            switch error {
            case .tooLong: throw tooLong
            default:
                throw Failure(.no, "no secret came from standard input", hint: "give it one line")
            }
        }
        try check(secret)
        return secret
    }

    private static func answer(_ field: inout TerminalField, _ label: String) throws(Failure) -> SecretBytes {
        do throws(ConversationError) {
            if field.isOpen { field.relabel(label) } else if !field.open(label) { throw .unusable }
            return try field.awaitAnswer(orEmpty: true)
        } catch {
            field.close()
            switch error {
            case .cancelled, .timedOut: throw Failure(.cancelled, "cancelled", hint: "nothing was changed")
            case .unusable: throw Failure(.no, "the terminal cannot be read", hint: "give the secret with --stdin")
            }
        }
    }

    /// Refuses what is too short, too long, or could not be typed for tpm2-tools.
    static func check(_ secret: borrowing SecretBytes) throws(Failure) {
        if secret.count < leastCount {
            throw Failure(
                .no, "the lockout secret is shorter than \(leastCount) characters", hint: "nothing was changed")
        }
        if secret.count > mostCount { throw tooLong }
        let isPrintable = secret.withBytes { bytes in
            for index in 0..<bytes.count where bytes[index] < 0x21 || bytes[index] > 0x7E { return false }
            return true
        }
        guard isPrintable else {
            throw Failure(
                .no, "the lockout secret has a blank, or what is no ASCII character",
                hint: "the TPM's other tools must be able to take it, too")
        }
    }

    private static var noTerminal: Failure {
        Failure(.no, "there is no terminal to ask on", hint: "run it in a terminal, or give the secret with --stdin")
    }

    private static var tooLong: Failure {
        Failure(.no, "the lockout secret is longer than \(mostCount) bytes", hint: "nothing was changed")
    }
}
