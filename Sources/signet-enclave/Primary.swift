internal import CTSS2
import SignetRecords

/// The primary key, and the one session that everything else goes through: salted to the key, with secrets encrypted both
/// ways.
final class OpenedEnclave {
    let connection: Connection
    let session: Handle
    /// The Name of the primary key (TPM 2.0 Library, Part 1, "Names").
    let name: [UInt8]
    /// The primary key while it is in the TPM.
    private var primary: Handle?

    /// Makes both; refuses where the key's Name is not `name`, before any salt is encrypted to it.
    ///
    /// Whoever sits between us and the TPM can put a key of his own in its place, and would read everything. That a key
    /// fits the Name beside it tss2 has compared by itself (Esys_CreatePrimary).
    init(_ connection: Connection, expecting name: [UInt8]) throws(Refusal) {
        let primary = try connection.primary(expecting: name)
        let number = primary.number
        self.name = try refusing(Refusal.plainly) { () throws(ReturnCode) in try connection.name(of: number) }
        session = try refusing(Refusal.plainly) { () throws(ReturnCode) in
            try connection.startSession(on: number)
        }
        self.connection = connection
        self.primary = consume primary
    }

    /// Runs `body` with the primary key, which is made again where it was left.
    func withPrimary<Result: ~Copyable>(_ body: (ESYS_TR) throws(Refusal) -> Result) throws(Refusal) -> Result {
        if primary == nil { primary = try connection.primary(expecting: name) }
        switch primary {
        case .some(let key): return try body(key.number)
        case .none: throw .problem(.other)
        }
    }

    /// Takes the primary key out of the TPM, for a person types now.
    ///
    /// What lies in the TPM meanwhile costs: the kernel's resource manager loads and saves all of it around each command
    /// (Linux, drivers/char/tpm/tpm2-space.c), and others find no place in a TPM without one.
    func leavePrimary() { primary = nil }
}

extension Connection {
    /// Makes the primary key; `foreign` where its Name is not `name`.
    fileprivate func primary(expecting name: [UInt8]) throws(Refusal) -> Handle {
        let key = try refusing(Refusal.byOwner) { () throws(ReturnCode) in try makePrimary() }
        let number = key.number
        let found = try refusing(Refusal.plainly) { () throws(ReturnCode) in try self.name(of: number) }
        guard name.isEmpty || name == found else { throw .problem(.foreign) }
        return key
    }

    /// Derives the primary key from the owner's seed.
    fileprivate func makePrimary() throws(ReturnCode) -> Handle {
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var template = signet_primary_template()
        var outside = TPM2B_DATA()
        var registers = TPML_PCR_SELECTION()
        var number = noSession
        try call { esys in
            // SAFETY: all pointers are good for the call; what is nil is not answered.
            unsafe Esys_CreatePrimary(
                esys.pointer, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, noSession, noSession, &sensitive, &template, &outside,
                &registers, &number, nil, nil, nil, nil)
        }
        return Handle(number, in: self)
    }

    /// The Name of an object that tss2 knows.
    fileprivate func name(of number: ESYS_TR) throws(ReturnCode) -> [UInt8] {
        var answer: UnsafeMutablePointer<TPM2B_NAME>?
        try call { esys in
            // SAFETY: the pointer is good for the call.
            unsafe Esys_TR_GetName(esys.pointer, number, &answer)
        }
        guard let output = unsafe Output(answer) else { throw ReturnCode.nothing }
        let count = unsafe Int(output.pointer.pointee.size)
        // SAFETY: the tuple lies in memory like an array of its bytes.
        return unsafe withUnsafeBytes(of: output.pointer.pointee.name) { bytes in
            unsafe Array(bytes.prefix(count))
        }
    }

    /// Starts the session.
    ///
    /// Its flags are no parameter: a call that forgets to have its secret encrypted sends it in clear,
    /// without any error.
    fileprivate func startSession(on primary: ESYS_TR) throws(ReturnCode) -> Handle {
        var cipher = signet_session_cipher()
        var number = noSession
        try call { esys in
            // SAFETY: all pointers are good for the call; tss2 makes the nonce itself.
            unsafe Esys_StartAuthSession(
                esys.pointer, primary, noSession, noSession, noSession, noSession, nil, TPM2_SE(TPM2_SE_HMAC), &cipher,
                TPMI_ALG_HASH(TPM2_ALG_SHA256), &number)
        }
        let session = Handle(number, in: self)
        let flags = TPMA_SESSION(
            TPMA_SESSION_CONTINUESESSION | TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT)
        try call { esys in
            // SAFETY: the context lives.
            unsafe Esys_TRSess_SetAttributes(esys.pointer, number, flags, 0xFF)
        }
        return session
    }
}
