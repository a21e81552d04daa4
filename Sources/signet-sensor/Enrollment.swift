internal import CFprint
internal import CPlatform
import SignetPolicy
import SignetRecords

extension Session {
    /// Enrolls a finger; the template goes to Signet and is wiped here.
    func enroll(_ finger: Finger, _ userName: [UInt8], day: UInt32, on reader: Reader) {
        guard finishCurrent() else { return }
        let operation = Operation()
        current = operation
        // SAFETY: a new print floats; libfprint takes the reference. The name ends with a zero and is copied during the call.
        guard let print = unsafe fp_print_new(reader.device) else { _exit(1) }
        unsafe fp_print_set_finger(print, FpFinger(rawValue: UInt32(finger.number)))
        unsafe fp_print_set_username(print, userName.map { CChar(bitPattern: $0) } + [0])
        // Day 719163 of GDate is 1970-01-01.
        let (julian, overflow) = day.addingReportingOverflow(719_163)
        if !overflow, g_date_valid_julian(julian) != 0 {
            let date = unsafe g_date_new_julian(julian)
            unsafe fp_print_set_enroll_date(print, date)
            unsafe g_date_free(date)
        }
        // SAFETY: the session lives as long as the process.
        unsafe fp_device_enroll(
            reader.device, print, operation.cancellable, Session.progressed, Unmanaged.passUnretained(self).toOpaque(),
            nil, Operation.done, operation.retainedPointer())
        iterate { operation.isDone || channel.isReadable }
        guard operation.isDone || cancelOrLeave(operation, until: { operation.isDone }) else {
            channel.send(.cancelIgnored(fingerSeen: true))
            return
        }
        finish(operation, on: reader)
    }

    /// FpEnrollProgress.
    private static let progressed: FpEnrollProgress = { _, done, _, data, error in
        guard let data = unsafe data else { return }
        // SAFETY: `data` is the session that was passed, which lives as long as the process.
        let session = unsafe Unmanaged<Session>.fromOpaque(data).takeUnretainedValue()
        unsafe session.progressed(Int(done), error)
    }

    private func progressed(_ done: Int, _ error: UnsafeMutablePointer<GError>?) {
        guard let reader else { return }
        // Each touch has its own time.
        alarm(Session.workSeconds)
        if let error = unsafe error {
            var reason = RetryReason.general
            if !reader.hasFreedErrors, case .retry(let read) = unsafe Outcome(error) { reason = read }
            channel.send(.retry(reason))
        } else {
            let total = min(reader.stages, 255)
            channel.send(.stage(done: max(0, min(done, total)), of: total))
        }
    }

    private func finish(_ operation: Operation, on reader: Reader) {
        current = nil
        var error: UnsafeMutablePointer<GError>?
        // SAFETY: the operation is done and is an enrollment; the print is ours.
        guard let print = unsafe fp_device_enroll_finish(reader.device, operation.result, &error) else {
            switch unsafe reader.take(error) {
            case .cancelled where operation.wasCancelled: channel.send(.cancelled(fingerSeen: true))
            case .cancelled: channel.send(.failed(.faulty))
            case .retry: channel.send(.failed(.faulty))
            case .problem(let problem): channel.send(.failed(problem))
            }
            return
        }
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(print)) }
        var bytes: UnsafeMutablePointer<guchar>?
        var count: gsize = 0
        guard unsafe fp_print_serialize(print, &bytes, &count, nil) != 0, let bytes = unsafe bytes else {
            channel.send(.failed(.faulty))
            return
        }
        defer {
            // SAFETY: `count` bytes were allocated by GLib for us.
            unsafe explicit_bzero(bytes, Int(clamping: count))
            unsafe g_free(bytes)
        }
        guard count <= PrintEntry.templateLimit else {
            channel.send(.failed(.faulty))
            return
        }
        let onReader = unsafe fp_print_get_device_stored(print) != 0
        // SAFETY: the bytes live until the end of this function.
        let template = unsafe UnsafeBufferPointer(start: UnsafePointer(bytes), count: Int(count))
        channel.send(
            .enrolled(template: 0..<template.count, onReader: onReader), templateFrom: unsafe template.span)
    }

    /// Deletes one print from the reader's memory.
    ///
    /// Never all of them: others' prints live there too.
    func delete(_ index: Int, from reader: Reader) {
        guard finishCurrent() else { return }
        // libfprint answers success where it cannot delete.
        guard reader.has(FP_DEVICE_FEATURE_STORAGE), reader.has(FP_DEVICE_FEATURE_STORAGE_DELETE) else {
            channel.send(.failed(.unsupported))
            return
        }
        guard gallery.indices.contains(index), let print = gallery[index] else {
            channel.send(.failed(.printNotFound))
            return
        }
        let operation = Operation()
        current = operation
        unsafe fp_device_delete_print(
            reader.device, print.pointer, operation.cancellable, Operation.done, operation.retainedPointer())
        iterate { operation.isDone || channel.isReadable }
        guard operation.isDone else { leave() }
        current = nil
        var error: UnsafeMutablePointer<GError>?
        // SAFETY: the operation is done and is a deletion.
        let succeeded = unsafe fp_device_delete_print_finish(reader.device, operation.result, &error) != 0
        channel.send(succeeded ? .deleted : .failed(unsafe reader.take(error).problem))
    }
}
