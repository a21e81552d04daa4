internal import CTSS2
import SignetRecords

/// What a call of tss2 answered instead of success (TPM 2.0 Library, Part 2, "TPM_RC"; TSS 2.0 Overview, "Return Codes").
struct ReturnCode: Error, Equatable {
    let raw: TSS2_RC

    /// A call that succeeded and answered nothing, or no memory for one.
    static let nothing = ReturnCode(raw: TSS2_RC.max)

    private var layer: TSS2_RC { raw & signet_layer_mask }

    /// The TPM's own number, without the number of the handle, parameter or session it is about; nil for one of tss2's.
    private var number: TSS2_RC? {
        guard layer == signet_layer_tpm || layer == signet_layer_manager_tpm || layer == signet_layer_manager else {
            return nil
        }
        return raw & signet_rc_format_one != 0 ? raw & 0xBF : raw & 0xFFF
    }

    /// Whether the number is `other`.
    func isNumber(_ other: TSS2_RC) -> Bool { number == other }

    /// Whether the TPM refused a parameter of the command, and not a handle or a session.
    var isAboutParameter: Bool {
        number != nil && raw & signet_rc_format_one != 0 && raw & signet_rc_parameter != 0
    }

    /// Whether the TPM cannot be reached.
    var isLoss: Bool { layer == signet_layer_connection }

    /// Whether the same command may succeed a moment later; the TPM has done nothing of it.
    var isTransient: Bool {
        isNumber(signet_rc_retry) || isNumber(signet_rc_nv_rate) || isNumber(signet_rc_testing)
            || isNumber(signet_rc_yielded)
    }

    /// Whether the TPM has no place for an object or a session.
    var isFull: Bool {
        isNumber(signet_rc_object_memory) || isNumber(signet_rc_session_memory) || isNumber(signet_rc_memory)
            || isNumber(signet_rc_session_handles) || isNumber(signet_rc_object_handles)
    }

    /// Whether the authorisation was wrong.
    var isWrongAuthorization: Bool { isNumber(signet_rc_auth_fail) || isNumber(signet_rc_bad_auth) }

    /// Whether the TPM counted it.
    var isCounted: Bool { isNumber(signet_rc_auth_fail) }

    /// What Signet is told where the call's own meaning says no more.
    var problem: EnclaveProblem {
        if isLoss || isNumber(signet_rc_initialize) { return .noDevice }
        if isNumber(signet_rc_lockout) { return .lockout }
        if isTransient { return .busy }
        if isFull || isNumber(signet_rc_nv_space) { return .noRoom }
        if isNumber(signet_rc_hierarchy) { return .ownerRefused }
        return .other
    }
}

/// Why a request is not answered with what it asks for.
enum Refusal: Error, Equatable {
    case problem(EnclaveProblem)
    case wrong(counted: Bool)

    var reply: EnclaveReply {
        switch self {
        case .problem(let problem): return .failed(problem)
        case .wrong(let counted): return .wrong(counted: counted)
        }
    }

    /// What a call failed with that shows no authorisation of somebody's.
    static func plainly(_ code: ReturnCode) -> Refusal { .problem(code.problem) }

    /// What a call failed with that the owner authorises: ours is the empty authorisation.
    static func byOwner(_ code: ReturnCode) -> Refusal {
        .problem(code.isWrongAuthorization ? .ownerRefused : code.problem)
    }

    /// What a call failed with that shows an authorisation of the request's.
    static func authorized(_ code: ReturnCode) -> Refusal {
        code.isWrongAuthorization ? .wrong(counted: code.isCounted) : .problem(code.problem)
    }
}

/// Runs calls of tss2; what fails is refused as `meaning` says.
func refusing<Result: ~Copyable>(
    _ meaning: (ReturnCode) -> Refusal, _ body: () throws(ReturnCode) -> Result
) throws(Refusal) -> Result {
    do throws(ReturnCode) { return try body() } catch { throw meaning(error) }
}
