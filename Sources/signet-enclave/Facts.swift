internal import CTSS2
import SignetPolicy
import SignetRecords

// What a TPM says of itself, with no session: it answers everybody.

extension Connection {
    /// What the TPM is and how it stands.
    func look() throws(ReturnCode) -> EnclaveDescription {
        let fixed = try capability(TPM2_CAP_TPM_PROPERTIES, from: signet_pt_manufacturer, count: 8)
        let variable = try capability(TPM2_CAP_TPM_PROPERTIES, from: signet_pt_permanent, count: 64)
        let permanent = try variable.property(signet_pt_permanent)
        let state = DictionaryAttackState(
            failures: try variable.property(signet_pt_failures), limit: try variable.property(signet_pt_limit),
            healSeconds: try variable.property(signet_pt_heal_seconds),
            recoverySeconds: try variable.property(signet_pt_recovery_seconds),
            inLockout: permanent & UInt32(TPMA_PERMANENT_INLOCKOUT) != 0,
            hasLockoutAuthorization: permanent & UInt32(TPMA_PERMANENT_LOCKOUTAUTHSET) != 0)
        let firmware = [signet_pt_firmware_1, signet_pt_firmware_2].map { UInt64((try? fixed.property($0)) ?? 0) }
        return EnclaveDescription(
            maker: Connection.maker((try? fixed.property(signet_pt_manufacturer)) ?? 0),
            firmware: firmware[0] << 32 | firmware[1], dictionaryAttack: state,
            hasOwnerAuthorization: permanent & UInt32(TPMA_PERMANENT_OWNERAUTHSET) != 0,
            countersLeft: (try? variable.property(signet_pt_counters_left)) ?? 0)
    }

    /// Up to four characters, the first in the highest byte; others than printable ones end the name.
    private static func maker(_ number: UInt32) -> [UInt8] {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        return Array(bytes.prefix { (0x20...0x7E).contains($0) })
    }

    /// All handles of the kind of `first`, from it on.
    func handles(from first: TPM2_HANDLE) throws(ReturnCode) -> [TPM2_HANDLE] {
        var found: [TPM2_HANDLE] = []
        var next = first
        while true {
            let list = try capability(TPM2_CAP_HANDLES, from: next, count: UInt32(SIGNET_HANDLES_AT_ONCE))
            let some = list.handles
            // A TPM that gave the same handle again and again would hold us for ever.
            guard let last = some.last, last >= next, last < TPM2_HANDLE.max else { return found }
            found += some
            next = last + 1
            guard list.hasMore else { return found }
        }
    }

    private func capability(_ kind: TPM2_CAP, from first: UInt32, count: UInt32) throws(ReturnCode) -> Capability {
        var answer: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
        var more: TPMI_YES_NO = 0
        try call { esys in
            // SAFETY: both pointers are good for the call.
            unsafe Esys_GetCapability(
                esys.pointer, noSession, noSession, noSession, kind, first, count, &more, &answer)
        }
        guard let output = unsafe Output(answer) else { throw ReturnCode.nothing }
        return Capability(output: output, hasMore: more != 0)
    }
}

/// A part of a list that a TPM gave.
private struct Capability: ~Copyable {
    let output: Output<TPMS_CAPABILITY_DATA>
    let hasMore: Bool

    /// One property; a TPM that leaves it out cannot be judged.
    func property(_ property: UInt32) throws(ReturnCode) -> UInt32 {
        var value: UInt32 = 0
        // SAFETY: the list lives as long as `output`; the value is good for the call.
        guard unsafe signet_property(output.pointer, property, &value) else { throw ReturnCode.nothing }
        return value
    }

    var handles: [TPM2_HANDLE] {
        // SAFETY: the list lives as long as `output`.
        let count = unsafe signet_handle_count(output.pointer)
        return (0..<count).map { unsafe signet_handle(output.pointer, $0) }
    }
}
