internal import CTSS2
import SignetRecords
import SignetSecrets

// Sealed objects: made, loaded, unsealed.

extension OpenedEnclave {
    /// Seals `secret`; an empty `authorization` is none.
    func seal(
        _ secret: Span<UInt8>, under authorization: Span<UInt8>, countsFailures: Bool
    ) throws(Refusal) -> EnclaveObject {
        let made = try withScratch(TPM2B_SENSITIVE_CREATE.self) { (sensitive) throws(Refusal) -> EnclaveObject? in
            // SAFETY: `sensitive` is a value of ours for the whole closure; the spans outlive the calls.
            let fits = unsafe secret.withUnsafeBufferPointer { bytes in
                unsafe signet_set_secret(sensitive.pointer, bytes.baseAddress, bytes.count)
            }
            let alsoFits = unsafe authorization.withUnsafeBufferPointer { bytes in
                unsafe signet_set_authorization(
                    &sensitive.pointer.pointee.sensitive.userAuth, bytes.baseAddress, bytes.count)
            }
            guard fits, alsoFits else { throw .problem(.other) }
            return try create(sensitive, countsFailures: countsFailures)
        }
        guard let made, let object = made else { throw .problem(.other) }
        return object
    }

    private func create(
        _ sensitive: Scratch<TPM2B_SENSITIVE_CREATE>, countsFailures: Bool
    ) throws(Refusal) -> EnclaveObject? {
        var template = signet_sealed_template(countsFailures)
        var outside = TPM2B_DATA()
        var registers = TPML_PCR_SELECTION()
        var privateArea: UnsafeMutablePointer<TPM2B_PRIVATE>?
        var publicArea: UnsafeMutablePointer<TPM2B_PUBLIC>?
        let session = session.number
        try withPrimary { (parent) throws(Refusal) in
            try refusing(Refusal.plainly) { () throws(ReturnCode) in
                try connection.call { esys in
                    // SAFETY: all pointers are good for the call; what is nil is not answered.
                    unsafe Esys_Create(
                        esys.pointer, parent, session, noSession, noSession, sensitive.pointer, &template, &outside,
                        &registers, &privateArea, &publicArea, nil, nil, nil)
                }
            }
        }
        guard let privateArea = unsafe Output(privateArea), let publicArea = unsafe Output(publicArea) else {
            return nil
        }
        return EnclaveObject(
            publicArea: unsafe Marshalling.bytes(publicArea.pointer, Tss2_MU_TPM2B_PUBLIC_Marshal),
            privateArea: unsafe Marshalling.bytes(privateArea.pointer, Tss2_MU_TPM2B_PRIVATE_Marshal),
            countsFailures: countsFailures)
    }

    /// Loads an object; `foreign` where it is no object of this TPM's, or none that `seal` made.
    ///
    /// Without the session, which would cost 2 ms and protect nothing: the private area is encrypted by the TPM itself, and
    /// what is loaded must have the public area's own Name (Esys_Load), which the session then vouches for.
    func load(_ object: EnclaveObject) throws(Refusal) -> Handle {
        var publicArea = TPM2B_PUBLIC()
        var privateArea = TPM2B_PRIVATE()
        // SAFETY: each value is good for the call.
        guard unsafe Marshalling.read(object.publicArea, &publicArea, Tss2_MU_TPM2B_PUBLIC_Unmarshal),
            unsafe Marshalling.read(object.privateArea, &privateArea, Tss2_MU_TPM2B_PRIVATE_Unmarshal),
            // SAFETY: reads a member of a C union of numbers, all of which are values.
            publicArea.publicArea.type == TPM2_ALG_KEYEDHASH,
            publicArea.publicArea.objectAttributes
                == signet_sealed_template(object.countsFailures).publicArea.objectAttributes
        else { throw .problem(.foreign) }
        var number = noSession
        let meaning = { (code: ReturnCode) -> Refusal in
            .problem(code.isAboutParameter ? .foreign : code.problem)
        }
        try withPrimary { (parent) throws(Refusal) in
            try refusing(meaning) { () throws(ReturnCode) in
                try connection.call { esys in
                    // SAFETY: all pointers are good for the call.
                    unsafe Esys_Load(
                        esys.pointer, parent, ESYS_TR_PASSWORD, noSession, noSession, &privateArea, &publicArea, &number
                    )
                }
            }
        }
        return Handle(number, in: connection)
    }

    /// The secret of a loaded object; an empty `authorization` is none.
    func unseal(_ object: borrowing Handle, with authorization: Span<UInt8>) throws(Refusal) -> SecretBytes {
        try connection.authorize(object.number, with: authorization)
        // tss2 keeps what it was given.
        defer { connection.forgetAuthorization(of: object.number) }
        var answer: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
        let (number, session) = (object.number, session.number)
        try refusing(Refusal.authorized) { () throws(ReturnCode) in
            try connection.call { esys in
                // SAFETY: the pointer is good for the call.
                unsafe Esys_Unseal(esys.pointer, number, session, noSession, noSession, &answer)
            }
        }
        guard let output = unsafe Output(answer) else { throw .problem(.other) }
        guard unsafe Int(output.pointer.pointee.size) == EnclaveMessage.secretCount else { throw .problem(.foreign) }
        // SAFETY: the answer lives as long as `output`; the address is taken of the memory itself, not of a copy.
        let secret = unsafe UnsafeBufferPointer(start: signet_secret(output.pointer), count: EnclaveMessage.secretCount)
        guard let copy = unsafe SecretBytes(copying: secret.span) else { throw .problem(.other) }
        return copy
    }
}

extension Connection {
    /// Tells tss2 the authorisation of an object, an index or a hierarchy.
    func authorize(_ number: ESYS_TR, with authorization: Span<UInt8>) throws(Refusal) {
        let done: Void? = try withScratch(TPM2B_AUTH.self) { (value) throws(Refusal) in
            // SAFETY: `value` is a value of ours for the whole closure; the span outlives the call.
            let fits = unsafe authorization.withUnsafeBufferPointer { bytes in
                unsafe signet_set_authorization(value.pointer, bytes.baseAddress, bytes.count)
            }
            guard fits else { throw .problem(.other) }
            try refusing(Refusal.plainly) { () throws(ReturnCode) in
                try callOnce { esys in unsafe Esys_TR_SetAuth(esys.pointer, number, value.pointer) }
            }
        }
        guard done != nil else { throw .problem(.other) }
    }

    /// Overwrites the authorisation that tss2 was told.
    func forgetAuthorization(of number: ESYS_TR) {
        var none = TPM2B_AUTH()
        // SAFETY: tss2 copies the whole value, with all its zeros.
        try? callOnce { esys in unsafe Esys_TR_SetAuth(esys.pointer, number, &none) }
    }
}

/// tss2's structures as bytes.
private enum Marshalling {
    typealias Writer<Value> = (
        UnsafePointer<Value>?, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?
    ) -> TSS2_RC
    typealias Reader<Value> = (
        UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Value>?
    ) -> TSS2_RC

    /// The bytes of a value; empty where there are too many.
    static func bytes<Value>(_ value: UnsafeMutablePointer<Value>, _ write: Writer<Value>) -> [UInt8] {
        var memory = [UInt8](repeating: 0, count: EnclaveObject.areaLimit)
        var offset = 0
        // SAFETY: the memory has the length that is passed.
        let code = unsafe memory.withUnsafeMutableBufferPointer { buffer in
            unsafe write(value, buffer.baseAddress, buffer.count, &offset)
        }
        guard code == 0, offset <= memory.count else { return [] }
        return Array(memory[..<offset])
    }

    /// Reads a value that takes up all of `bytes`; whether it did.
    static func read<Value>(_ bytes: [UInt8], _ value: inout Value, _ read: Reader<Value>) -> Bool {
        var offset = 0
        // SAFETY: the memory has the length that is passed.
        let code = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe read(buffer.baseAddress, buffer.count, &offset, &value)
        }
        return code == 0 && offset == bytes.count
    }
}
