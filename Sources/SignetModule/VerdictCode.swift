internal import PAMShim
package import SignetPolicy

extension Verdict {
    /// The PAM code for a verdict: the one place where they meet, without a default.
    ///
    /// PAM_IGNORE is not among them: a module that answers it leaves the decision to the rest of the stack
    /// (CVE-2025-23013). sudo tries again after the first three codes of a refusal, and ends at once after the last two.
    package var code: CInt {
        switch self {
        case .granted: PAM_SUCCESS
        case .refused(.authenticationFailed): PAM_AUTH_ERR
        case .refused(.cancelled): PAM_AUTH_ERR
        case .refused(.timedOut): PAM_AUTH_ERR
        case .refused(.background): PAM_AUTH_ERR
        case .refused(.pinNotSet): PAM_AUTHINFO_UNAVAIL
        case .refused(.fingerPathClosed): PAM_AUTHINFO_UNAVAIL
        case .refused(.pinLockout): PAM_MAXTRIES
        case .refused(.unknownUser): PAM_USER_UNKNOWN
        case .refused(.recordUnusable): PAM_SERVICE_ERR
        }
    }

    /// Whether the transaction is over for good: further calls on the same handle answer the same at once.
    package var endsTransaction: Bool {
        switch self {
        case .granted: false
        case .refused(let refusal): !refusal.mayEndOtherwise
        }
    }
}
