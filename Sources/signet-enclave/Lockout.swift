internal import CTSS2
import SignetPolicy
import SignetRecords

// The protection against guessing, which belongs to the whole machine.

extension OpenedEnclave {
    /// Sets the limits, and then a lockoutAuth, where none is set.
    ///
    /// In this order: a helper that is killed in between leaves the TPM as open as it was, and can be asked again.
    func setLockout(
        authorization: Span<UInt8>, limit: UInt32, healSeconds: UInt32, recoverySeconds: UInt32
    ) throws(Refusal) {
        let state = try refusing(Refusal.plainly) { () throws(ReturnCode) in try connection.look() }.dictionaryAttack
        guard !state.hasLockoutAuthorization else { throw .problem(.lockoutAuthSet) }
        // The TPM leaves zeros at the end out: all zeros would be an empty authorisation, and so none.
        guard authorization.hasNonzero else { throw .problem(.other) }
        let session = session.number
        try refusing(Refusal.plainly) { () throws(ReturnCode) in
            try connection.callOnce { esys in
                // SAFETY: the context lives.
                unsafe Esys_DictionaryAttackParameters(
                    esys.pointer, ESYS_TR_RH_LOCKOUT, session, noSession, noSession, limit, healSeconds, recoverySeconds
                )
            }
        }
        let done: Void? = try withScratch(TPM2B_AUTH.self) { (value) throws(Refusal) in
            // SAFETY: `value` is a value of ours for the whole closure; the span outlives the call.
            let fits = unsafe authorization.withUnsafeBufferPointer { bytes in
                unsafe signet_set_authorization(value.pointer, bytes.baseAddress, bytes.count)
            }
            guard fits else { throw .problem(.other) }
            try refusing(Refusal.plainly) { () throws(ReturnCode) in
                try connection.callOnce { esys in
                    unsafe Esys_HierarchyChangeAuth(
                        esys.pointer, ESYS_TR_RH_LOCKOUT, session, noSession, noSession, value.pointer)
                }
            }
        }
        guard done != nil else { throw .problem(.other) }
        connection.forgetAuthorization(of: ESYS_TR_RH_LOCKOUT)
    }

    /// Forgets the failures; asked once, for a wrong lockoutAuth bars the right one for `recoverySeconds`.
    func resetLockout(authorization: Span<UInt8>) throws(Refusal) {
        try connection.authorize(ESYS_TR_RH_LOCKOUT, with: authorization)
        defer { connection.forgetAuthorization(of: ESYS_TR_RH_LOCKOUT) }
        let session = session.number
        try refusing(Refusal.authorized) { () throws(ReturnCode) in
            try connection.callOnce { esys in
                // SAFETY: the context lives.
                unsafe Esys_DictionaryAttackLockReset(esys.pointer, ESYS_TR_RH_LOCKOUT, session, noSession, noSession)
            }
        }
    }
}

extension Span<UInt8> {
    /// Whether any byte is not zero.
    fileprivate var hasNonzero: Bool {
        var all: UInt8 = 0
        for index in 0..<count { all |= self[index] }
        return all != 0
    }
}
