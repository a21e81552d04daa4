internal import CFprint
import SignetPolicy
import SignetRecords

/// One try: from the first `arm` to an ending that is no retry.
struct TouchState {
    /// `armed` was sent.
    var isArmed = false
    /// The ending was sent, or what still comes counts for nothing.
    var isOver = true
    /// A finger was seen since the try began.
    var fingerSeen = false
    /// The next `arm` goes on with the same try.
    var goesOn = false
    /// The print of the gallery that is compared next, where the reader compares with one at a time.
    var cursor = 0
    /// The operation compares with one print.
    var verifies = false
    /// Signet was told that a finger was seen.
    var fingerIsTold = false
    /// The person was told to lift a finger that stayed on the reader.
    var isToldToLift = false
}

extension Session {
    /// Tells Signet the ending of the try, once.
    private func end(_ event: SensorEvent, goesOn: Bool = false) {
        guard !touch.isOver else { return }
        if !touch.isArmed { sendArmed() }
        // A failure says nothing of the finger itself, and a try is only given back where none lay there.
        if case .failed = event { tellFinger() }
        touch.isOver = true
        touch.goesOn = goesOn
        channel.send(event)
    }

    private func sendArmed() {
        touch.isArmed = true
        channel.send(.armed)
    }

    /// The places in the gallery of the prints that the reader may compare.
    private var usable: [Int] { gallery.indices.filter { gallery[$0] != nil } }

    /// Waits for a finger and compares it with the gallery.
    ///
    /// A reader that cannot identify compares a touch with one print only. There a try goes through the gallery: each
    /// touch is compared with the next print, and a touch that differs is answered by "lift your finger and touch
    /// again" until the last print. So a try never compares more often than identification would.
    func arm(_ reader: Reader) {
        if !touch.goesOn { touch = TouchState() }
        touch.isArmed = false
        guard awaitLifting(from: reader) else { return }
        touch.isOver = false
        let usable = usable
        guard let first = usable.first else {
            end(.failed(.unsupported))
            return
        }
        let operation = Operation()
        current = operation
        // With one print only, a chip is asked for this one: it cannot answer with one of somebody else's then.
        touch.verifies = !reader.identifies || usable.count == 1
        if !touch.verifies {
            startIdentifying(reader, usable, operation)
        } else {
            startVerifying(reader, usable.first { $0 >= touch.cursor } ?? first, operation)
        }
        // Most drivers say when they need the finger; half a second is the wait for those that do not.
        _ = iterate(atMost: 500) { touch.isArmed || touch.isOver || operation.isDone || channel.isReadable }
        if !touch.isArmed { sendArmed() }
        iterate { touch.isOver || operation.isDone || channel.isReadable }
        if !touch.isOver, !operation.isDone, !cancelOrLeave(operation, until: { touch.isOver || operation.isDone }) {
            // The driver takes its time. No finger was compared yet, or the callback would have said so, and what it
            // still says counts for nothing: no guess is given away.
            end(.cancelIgnored(fingerSeen: touch.fingerSeen))
        }
        if operation.isDone { conclude(operation) }
    }

    /// Takes the one request that may come now, asks the driver to end, and waits 0.7 s of Signet's second.
    ///
    /// Answers whether `condition` holds then.
    func cancelOrLeave(_ operation: Operation, until condition: () -> Bool) -> Bool {
        guard let request = receive(), request != .close else { leave() }
        demand(request == .cancel)
        operation.cancel()
        return iterate(atMost: 700, until: condition)
    }

    /// Waits for the operation before to end: a finger may still lie on the reader.
    ///
    /// False: a cancel came meanwhile.
    func finishCurrent() -> Bool {
        guard let operation = current else { return true }
        iterate { operation.isDone || channel.isReadable }
        guard operation.isDone else {
            answerCancel()
            return false
        }
        current = nil
        return true
    }

    /// Milliseconds after which a person is told that their finger still lies on the reader.
    private static let liftLimit: UInt32 = 500
    /// Milliseconds after a comparison before a chip that compares by itself is asked again.
    ///
    /// Such chips end at once with their answer and do not tell when the finger goes (Goodix, Synaptics, Elan): asked
    /// again while it still lies there they compare the same touch again, so that one long touch would be three tries.
    private static let chipRest = 600

    /// Waits for the finger of the try before to be lifted, so that one long touch is one try.
    ///
    /// False: the request is answered already.
    private func awaitLifting(from reader: Reader) -> Bool {
        if let operation = current {
            // An image driver's operation lasts as long as the finger lies there.
            if !iterate(atMost: Session.liftLimit, until: { operation.isDone || channel.isReadable }) {
                touch.fingerSeen = true
                channel.send(.armed)
                if !touch.isToldToLift {
                    touch.isToldToLift = true
                    touch.goesOn = true
                    channel.send(.retry(.removeFinger))
                    return false
                }
                // The person has as long as for a touch. What still comes of the operation counts for nothing.
                touch.isArmed = true
                iterate { operation.isDone || channel.isReadable }
            }
            guard finishCurrent() else { return false }
        }
        guard !reader.has(FP_DEVICE_FEATURE_CAPTURE) else { return true }
        let rest = Session.chipRest - (Int(g_get_monotonic_time()) - Int(comparedAt)) / 1000
        guard rest > 0, comparedAt > 0, iterate(atMost: UInt32(rest), until: { channel.isReadable }) else {
            return true
        }
        answerCancel()
        return false
    }

    /// Takes the one request that may come before the driver was asked for a finger.
    ///
    /// Since this `arm` nothing can have been compared: what still comes of the operation before counts for nothing. So a
    /// new try has not begun, and is given back. One that goes on has compared a finger in an `arm` before, or was told
    /// that one lay there, and says so: it stays charged.
    private func answerCancel() {
        guard let request = receive(), request != .close else { leave() }
        demand(request == .cancel)
        channel.send(.cancelled(fingerSeen: touch.fingerSeen))
        touch.goesOn = false
    }

    private func startIdentifying(_ reader: Reader, _ usable: [Int], _ operation: Operation) {
        // SAFETY: the array and, through it, the prints are referenced by libfprint until the operation is done.
        let array = unsafe g_ptr_array_new_with_free_func(g_object_unref)
        for print in usable.compactMap({ gallery[$0] }) {
            unsafe g_ptr_array_add(array, g_object_ref(UnsafeMutableRawPointer(print.pointer)))
        }
        // SAFETY: the session lives as long as the process.
        unsafe fp_device_identify(
            reader.device, array, operation.cancellable, Session.compared, Unmanaged.passUnretained(self).toOpaque(),
            nil, Operation.done, operation.retainedPointer())
        unsafe g_ptr_array_unref(array)
    }

    private func startVerifying(_ reader: Reader, _ index: Int, _ operation: Operation) {
        touch.cursor = index
        guard let print = gallery[index] else { return }
        // SAFETY: the session lives as long as the process; libfprint references the print.
        unsafe fp_device_verify(
            reader.device, print.pointer, operation.cancellable, Session.compared,
            Unmanaged.passUnretained(self).toOpaque(), nil, Operation.done, operation.retainedPointer())
    }

    /// FpMatchCb: the decision.
    ///
    /// What comes after it (waiting for the finger to lift, an error) does not change it.
    private static let compared: FpMatchCb = { _, match, _, data, error in
        guard let data = unsafe data else { return }
        // SAFETY: `data` is the session that was passed, which lives as long as the process.
        let session = unsafe Unmanaged<Session>.fromOpaque(data).takeUnretainedValue()
        unsafe session.compared(with: match, error)
    }

    private func compared(with match: OpaquePointer?, _ error: UnsafeMutablePointer<GError>?) {
        guard !touch.isOver, let reader else { return }
        touch.fingerSeen = true
        comparedAt = Int64(g_get_monotonic_time())
        if let error = unsafe error {
            // Only retries come here; which one is not looked at where the driver may have freed it.
            guard !reader.hasFreedErrors, case .retry(let reason) = unsafe Outcome(error) else {
                end(.retry(.general), goesOn: true)
                return
            }
            end(.retry(reason), goesOn: true)
            return
        }
        if let match = unsafe match {
            // The same object that was passed; a print that only equals one of ours is no match.
            guard let index = gallery.firstIndex(where: { unsafe $0?.pointer == match }) else {
                end(.failed(.faulty))
                return
            }
            end(.matched(index: index))
            // Decided: nobody waits for the finger to lift.
            current?.cancel()
        } else if touch.verifies, let next = usable.first(where: { $0 > touch.cursor }) {
            touch.cursor = next
            end(.retry(.removeFinger), goesOn: true)
        } else {
            end(.notMatched)
        }
    }

    /// Looks at how an operation ended that compared nothing.
    private func conclude(_ operation: Operation) {
        current = nil
        guard !touch.isOver, let reader else { return }
        var error: UnsafeMutablePointer<GError>?
        // SAFETY: the operation is done; each finish function is called for what was started, without the prints.
        let succeeded =
            unsafe touch.verifies
            ? fp_device_verify_finish(reader.device, operation.result, nil, nil, &error)
            : fp_device_identify_finish(reader.device, operation.result, nil, nil, &error)
        // Success without a callback was never decided.
        guard succeeded == 0 else {
            end(.failed(.faulty))
            return
        }
        switch unsafe reader.take(error) {
        case .retry(let reason):
            touch.fingerSeen = true
            end(.retry(reason), goesOn: true)
        case .cancelled where operation.wasCancelled: end(.cancelled(fingerSeen: touch.fingerSeen))
        // By the bus: it was reset, or suspended.
        case .cancelled: end(.failed(.faulty))
        case .problem(let problem): end(.failed(problem))
        }
    }

    /// Follows the reader's finger status.
    func watchFinger(of reader: Reader) {
        // SAFETY: the session lives as long as the process.
        unsafe signet_watch_finger(
            reader.device,
            { device, _, data in
                guard let data = unsafe data else { return }
                let status = unsafe fp_device_get_finger_status(device)
                unsafe Unmanaged<Session>.fromOpaque(data).takeUnretainedValue().fingerStatus(status)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func fingerStatus(_ status: FpFingerStatusFlags) {
        guard !touch.isOver else { return }
        if status.rawValue & FP_FINGER_STATUS_NEEDED.rawValue != 0, !touch.isArmed { sendArmed() }
        if status.rawValue & FP_FINGER_STATUS_PRESENT.rawValue != 0, !touch.fingerSeen {
            touch.fingerSeen = true
            if !touch.isArmed { sendArmed() }
            tellFingerSoon()
        }
    }

    /// Tells Signet of the finger once nothing else is to be done.
    ///
    /// What the reader decides in the same moment says it as well, and would only come later. A failure and an answer to a
    /// cancel say it in any case, and whoever dies before leaves the try charged.
    private func tellFingerSoon() {
        // SAFETY: the session lives as long as the process.
        unsafe _ = g_idle_add(
            { data in
                guard let data = unsafe data else { return 0 }
                unsafe Unmanaged<Session>.fromOpaque(data).takeUnretainedValue().tellFinger()
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func tellFinger() {
        guard touch.isArmed, !touch.isOver, touch.fingerSeen, !touch.fingerIsTold else { return }
        touch.fingerIsTold = true
        channel.send(.fingerSeen)
    }
}
