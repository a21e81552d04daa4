internal import CTSS2
import SignetPolicy
import SignetRecords

// Counters in the TPM's flash. A new one starts above all that were ever deleted (TPM 2.0 Library, Part 3,
// TPM2_NV_Increment), so that deleting one rolls nothing back.

extension OpenedEnclave {
    /// Defines a counter at the first of our indices that is free, and counts once, before which it cannot be read.
    func makeCounter(authorization: Span<UInt8>) throws(Refusal) -> EnclaveCounter {
        let taken = try refusing(Refusal.plainly) { () throws(ReturnCode) in
            try connection.handles(from: EnclaveMessage.counterIndices.lowerBound)
        }
        for index in EnclaveMessage.counterIndices where !taken.contains(index) {
            guard let handle = try define(index, authorization) else { continue }
            do throws(Refusal) {
                return EnclaveCounter(index: index, value: try bump(handle, authorization))
            } catch {
                try? undefine(handle)
                throw error
            }
        }
        throw .problem(.noRoom)
    }

    /// The value of a counter.
    func readCounter(_ index: UInt32, authorization: Span<UInt8>) throws(Refusal) -> EnclaveCounter {
        let handle = try find(index)
        return EnclaveCounter(index: index, value: try read(handle, authorization))
    }

    /// Counts one more; the new value.
    func bumpCounter(_ index: UInt32, authorization: Span<UInt8>) throws(Refusal) -> EnclaveCounter {
        let handle = try find(index)
        return EnclaveCounter(index: index, value: try bump(handle, authorization))
    }

    /// Gives the room of a counter back; does nothing where there is none of ours.
    func removeCounter(_ index: UInt32) throws(Refusal) {
        do throws(Refusal) {
            try undefine(try find(index))
        } catch {
            guard error == .problem(.noCounter) else { throw error }
        }
    }

    /// Defines a counter; nil where somebody else was quicker.
    private func define(_ index: UInt32, _ authorization: Span<UInt8>) throws(Refusal) -> IndexHandle? {
        var template = signet_counter_template(index)
        var number = noSession
        let session = session.number
        do throws(ReturnCode) {
            let done: Void? = try withScratch(TPM2B_AUTH.self) { (value) throws(ReturnCode) in
                // SAFETY: `value` is a value of ours for the whole closure; the span outlives the call.
                let fits = unsafe authorization.withUnsafeBufferPointer { bytes in
                    unsafe signet_set_authorization(value.pointer, bytes.baseAddress, bytes.count)
                }
                guard fits else { throw ReturnCode.nothing }
                try connection.call { esys in
                    // SAFETY: all pointers are good for the call.
                    unsafe Esys_NV_DefineSpace(
                        esys.pointer, ESYS_TR_RH_OWNER, session, noSession, noSession, value.pointer, &template, &number
                    )
                }
            }
            guard done != nil else { throw ReturnCode.nothing }
        } catch {
            if error.isNumber(signet_rc_nv_defined) { return nil }
            throw Refusal.byOwner(error)
        }
        return IndexHandle(number, in: connection)
    }

    private func undefine(_ handle: borrowing IndexHandle) throws(Refusal) {
        let (number, session) = (handle.number, session.number)
        try refusing(Refusal.byOwner) { () throws(ReturnCode) in
            try connection.call { esys in
                // SAFETY: the context lives.
                unsafe Esys_NV_UndefineSpace(esys.pointer, ESYS_TR_RH_OWNER, number, session, noSession, noSession)
            }
        }
    }

    /// Finds a counter of ours.
    private func find(_ index: UInt32) throws(Refusal) -> IndexHandle {
        let meaning = { (code: ReturnCode) -> Refusal in
            code.isNumber(signet_rc_handle) ? .problem(.noCounter) : .problem(code.problem)
        }
        var number = noSession
        try refusing(meaning) { () throws(ReturnCode) in
            try connection.call { esys in
                // SAFETY: the pointer is good for the call.
                unsafe Esys_TR_FromTPMPublic(esys.pointer, index, noSession, noSession, noSession, &number)
            }
        }
        let handle = IndexHandle(number, in: connection)
        var answer: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
        try refusing(meaning) { () throws(ReturnCode) in
            try connection.call { esys in
                // SAFETY: the pointer is good for the call; the Name is not asked for.
                unsafe Esys_NV_ReadPublic(esys.pointer, number, noSession, noSession, noSession, &answer, nil)
            }
        }
        guard let output = unsafe Output(answer), unsafe signet_is_counter(output.pointer, index) else {
            throw .problem(.noCounter)
        }
        return handle
    }

    private func bump(_ handle: borrowing IndexHandle, _ authorization: Span<UInt8>) throws(Refusal) -> UInt64 {
        try connection.authorize(handle.number, with: authorization)
        let (number, session) = (handle.number, session.number)
        do {
            defer { connection.forgetAuthorization(of: number) }
            try refusing(Refusal.authorized) { () throws(ReturnCode) in
                try connection.call { esys in
                    // SAFETY: the context lives.
                    unsafe Esys_NV_Increment(esys.pointer, number, number, session, noSession, noSession)
                }
            }
        }
        return try read(handle, authorization)
    }

    private func read(_ handle: borrowing IndexHandle, _ authorization: Span<UInt8>) throws(Refusal) -> UInt64 {
        try connection.authorize(handle.number, with: authorization)
        defer { connection.forgetAuthorization(of: handle.number) }
        let (number, session) = (handle.number, session.number)
        var answer: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        let meaning = { (code: ReturnCode) -> Refusal in
            // Defined by a helper that was killed before it counted.
            code.isNumber(signet_rc_nv_uninitialized) ? .problem(.noCounter) : .authorized(code)
        }
        try refusing(meaning) { () throws(ReturnCode) in
            try connection.call { esys in
                // SAFETY: the pointer is good for the call.
                unsafe Esys_NV_Read(esys.pointer, number, number, session, noSession, noSession, 8, 0, &answer)
            }
        }
        var value: UInt64 = 0
        // SAFETY: the answer lives as long as `output`.
        guard let output = unsafe Output(answer), unsafe signet_counter_value(output.pointer, &value) else {
            throw .problem(.other)
        }
        return value
    }
}
