import SignetEngine
import SignetPolicy
import SignetSecrets

/// What a person saw on the screen, in order.
enum Seen: Equatable, Sendable {
    case found([FoundPrint.Fate])
    case began(Finger, ReaderIdentity)
    case progress(EnrollmentProgress)
    case askedForTouch(TouchPurpose)
    case askedAgain(RetryReason)
    case notRecognised
    case beganDeleting
    case cancelled(pinWasSet: Bool)
    case recoveryCode
}

/// A screen that remembers.
final class FakeScreen: ManagementScreen {
    private(set) var seen: [Seen] = []
    private(set) var codes: [[UInt8]] = []
    let canShowRecoveryCode: Bool
    /// What happens when it shows what was found.
    var onShow: () -> Void = {}

    init(canShowRecoveryCode: Bool = true) { self.canShowRecoveryCode = canShowRecoveryCode }

    func show(_ found: [FoundPrint]) {
        seen.append(.found(found.map(\.fate)))
        onShow()
    }
    func begin(_ finger: Finger, on reader: ReaderDescription) { seen.append(.began(finger, reader.identity)) }
    func show(_ progress: EnrollmentProgress) { seen.append(.progress(progress)) }
    func askForTouch(_ purpose: TouchPurpose) { seen.append(.askedForTouch(purpose)) }
    func askAgain(_ reason: RetryReason) { seen.append(.askedAgain(reason)) }
    func notRecognised() { seen.append(.notRecognised) }
    func beginDeleting() { seen.append(.beganDeleting) }
    func cancelled(pinWasSet: Bool) { seen.append(.cancelled(pinWasSet: pinWasSet)) }
    func show(recoveryCode: borrowing SecretBytes) {
        seen.append(.recoveryCode)
        codes.append(recoveryCode.withBytes { span in (0..<span.count).map { span[$0] } })
    }
}

extension Actor {
    typealias Tasks = Management<FakeStore, FakeVault, ManualClock, MemoryJournal, FakeSensor, FakePerson>

    /// The management tasks on this process's ports.
    func tasks(byAdministrator: Bool = false, asksTwice: Bool = true) -> Tasks {
        Management(
            ManagementRequest(
                configuration: machine.configuration, uid: 1000, userName: Machine.alice,
                byAdministrator: byAdministrator, asksTwice: asksTwice),
            ledger: ledger(), sensor: sensor, person: person)
    }

    /// Enrolls with those answers and touches; a print with `data` comes of it.
    func enroll(
        _ number: UInt8? = nil, _ answers: [Answer], touches: [Touch], data: [UInt8]? = [9, 9],
        byAdministrator: Bool = false, on screen: FakeScreen = FakeScreen()
    ) -> Result<Enrolled, ManagementRefusal> {
        person.answers = answers
        sensor.touches = touches
        if let reader = sensor.present.first?.identity, let data {
            sensor.enrolled = template(driver: reader.driver, device: reader.device, data: data)
        }
        var screen = screen
        var tasks = tasks(byAdministrator: byAdministrator)
        do throws(ManagementRefusal) {
            return .success(try tasks.enroll(number.flatMap { Finger(number: $0) }, on: &screen))
        } catch {
            return .failure(error)
        }
    }

    /// Runs a task with those answers and touches.
    func run<Outcome>(
        _ answers: [Answer] = [], touches: [Touch] = [], byAdministrator: Bool = false, asksTwice: Bool = true,
        on screen: FakeScreen = FakeScreen(),
        _ task: (inout Tasks, inout FakeScreen) throws(ManagementRefusal) -> Outcome
    ) -> Result<Outcome, ManagementRefusal> {
        person.answers = answers
        sensor.touches = touches
        var screen = screen
        var tasks = tasks(byAdministrator: byAdministrator, asksTwice: asksTwice)
        do throws(ManagementRefusal) {
            return .success(try task(&tasks, &screen))
        } catch {
            return .failure(error)
        }
    }
}

extension Result where Failure == ManagementRefusal {
    var refusal: ManagementRefusal? { if case .failure(let refusal) = self { refusal } else { nil } }
    var outcome: Success? { if case .success(let outcome) = self { outcome } else { nil } }
}

/// The task of deleting these fingers.
func delete(
    _ selection: FingerSelection
) -> (inout Actor.Tasks, inout FakeScreen) throws(ManagementRefusal) -> FingersDeleted {
    { (tasks, screen) throws(ManagementRefusal) in try tasks.delete(selection, on: &screen) }
}
