internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Command {
    /// `signet lockout status`.
    static let lockoutStatus = Command(
        "lockout status", "say how many tries failed, and what is closed", options: [.user, .json],
        details: "Exit status 0: nothing is closed to the user; 6: fingers or the PIN are locked out."
    ) { (invocation) throws(Failure) in
        let target = try Machine.target(invocation)
        let status = AdministratorLedger.status(of: target, Machine.configuration(), readers: .problem(.noReader))
        guard let lockout = status.lockout else { throw status.failure(target) }
        let row = StatusText.lockout(lockout)
        invocation.answer(
            LockoutStatusAnswer(user: target.text, lockout: LockoutAnswer(lockout)),
            text: "\(target.text) (\(target.uid))\n" + Sheet.facts([row], width: Sheet.width))
        return lockout.pin != nil || lockout.isFingerLockedOut ? .lockedOut : .yes
    }

    /// `signet lockout reset`.
    static let lockoutReset = Command(
        "lockout reset", "forget failed tries of fingers, the PIN, or both",
        options: [
            .user, Option("--finger", "only those of fingers"), Option("--pin", "only those of PIN and recovery code"),
            .json,
        ],
        details: """
            Opens what is locked out, and enables a disabled PIN again. It does not change the PIN: who has forgotten it \
            needs the recovery code, or a new PIN from an administrator.
            """
    ) { (invocation) throws(Failure) in
        let target = try Machine.target(invocation)
        let onlyFinger = invocation.has(Option("--finger", ""))
        let onlyPIN = invocation.has(Option("--pin", ""))
        let (finger, pin) = (onlyFinger || !onlyPIN, onlyPIN || !onlyFinger)
        let configuration = Machine.configuration()
        let before = AdministratorLedger.status(of: target, configuration, readers: .problem(.noReader))
        guard before.lockout != nil else { throw before.failure(target) }
        var ledger = try Machine.ledger(for: target, configuration)
        do throws(LedgerFailure) { try ledger.reset(finger: finger, pin: pin) } catch {
            throw AdministratorLedger.failure(error, target)
        }
        ledger.log.record(
            .management(.lockoutReset(finger: finger, pin: pin), byAdministrator: target.byAdministrator))
        let what = finger && pin ? "finger and PIN" : finger ? "finger" : "PIN"
        // The TPM's count is the whole machine's, and only the lockout secret lowers it.
        let after = AdministratorLedger.status(of: target, configuration, readers: .problem(.noReader))
        invocation.answer(
            LockoutResetAnswer(user: target.text, finger: finger, pin: pin, tpmWait: after.enclave?.wait),
            text: "Failed tries of \(target.text) are forgotten: \(what).\n" + (pin ? waiting(after.enclave) : ""))
        return .yes
    }

    /// What the TPM still says after a reset.
    private static func waiting(_ fact: EnclaveFact?) -> String {
        guard let wait = fact?.wait else { return "" }
        return "The TPM has counted too many wrong PINs of its own and takes none for \(Output.duration(wait)).\n"
            + "With the lockout secret: sudo signet enclave reset\n"
    }
}

private struct LockoutStatusAnswer: Encodable {
    let user: String
    let lockout: LockoutAnswer
}

private struct LockoutResetAnswer: Encodable {
    let user: String
    let finger: Bool
    let pin: Bool
    /// Seconds for which the TPM itself takes no PIN of the user; absent where it takes one.
    let tpmWait: UInt64?
}

extension UserStatus {
    /// Why there are no counters to look at.
    func failure(_ target: TargetUser) -> Failure {
        switch record {
        case .notSetUp, .usable: .pinNotSet(target)
        case .busy, .refused, .clockUnreadable:
            Failure(.busy, "\(target.label): \(record.words)", hint: "try again, or see \"sudo signet doctor\"")
        case .faulty:
            Failure(
                .stateDamaged, "\(target.label): \(record.words)",
                hint: attention.first.map { first in
                    first.command(for: target.argument).map { "mend it with \"\($0)\"" }
                        ?? first.remedy(for: target.argument)
                })
        }
    }
}
