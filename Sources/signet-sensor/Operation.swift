internal import CFprint

/// One asynchronous call of libfprint: its cancellable, and its result once it has one.
@safe final class Operation {
    /// Cancels the call.
    let cancellable: UnsafeMutablePointer<GCancellable>
    /// What the call ended with; owned.
    private(set) var result: OpaquePointer?
    /// Whether we asked the driver to end it.
    private(set) var wasCancelled = false

    init() {
        unsafe cancellable = g_cancellable_new()
    }

    deinit {
        unsafe g_object_unref(cancellable)
        if let result = unsafe result { unsafe g_object_unref(UnsafeMutableRawPointer(result)) }
    }

    /// Whether the call has ended.
    var isDone: Bool { unsafe result != nil }

    /// Asks the driver to end the call; it may take its time, or not listen.
    func cancel() {
        wasCancelled = true
        unsafe g_cancellable_cancel(cancellable)
    }

    /// The pointer that `Operation.done` gets: one reference, which `done` gives back.
    func retainedPointer() -> UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(self).toOpaque() }

    /// GAsyncReadyCallback of every call.
    static let done: @convention(c) (UnsafeMutablePointer<GObject>?, OpaquePointer?, gpointer?) -> Void = {
        _, result, data in
        guard let data = unsafe data else { return }
        // SAFETY: `data` is the reference that `retainedPointer` made for this one callback.
        let operation = unsafe Unmanaged<Operation>.fromOpaque(data).takeRetainedValue()
        guard let result = unsafe result else { return }
        // SAFETY: GLib's result is alive during the callback; the reference keeps it.
        unsafe operation.result = OpaquePointer(g_object_ref(UnsafeMutableRawPointer(result)))
    }
}

/// Runs the main loop until `condition` holds.
func iterate(until condition: () -> Bool) {
    // libfprint's own calls use the default context; another one hangs in fp_context_enumerate.
    while !condition() { _ = g_main_context_iteration(nil, 1) }
}

/// Runs the main loop until `condition` holds or some milliseconds have passed; whether the condition holds.
func iterate(atMost milliseconds: UInt32, until condition: () -> Bool) -> Bool {
    final class Flag { var isUp = false }
    let flag = Flag()
    // SAFETY: `flag` outlives the source, which is removed below unless it has fired.
    let source = unsafe g_timeout_add(
        milliseconds,
        { data in
            guard let data = unsafe data else { return 0 }
            unsafe Unmanaged<Flag>.fromOpaque(data).takeUnretainedValue().isUp = true
            return 0
        }, Unmanaged.passUnretained(flag).toOpaque())
    iterate { flag.isUp || condition() }
    if !flag.isUp { _ = g_source_remove(source) }
    return withExtendedLifetime(flag) { condition() }
}
